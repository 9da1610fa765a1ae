"""What every figure must hold to, drawn at its real size."""

from itertools import combinations, pairwise

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text


def assert_readable(figure):
    """All text lies on the page; neighbouring tick labels of an axis do not touch; no panel is empty."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    assert all(axes.has_data() for axes in figure.axes), "an empty panel"
    all_axes = [every for axes in figure.axes for every in (axes, *axes.child_axes)]
    ticks, labels = set(), []
    for axis in (axis for axes in all_axes for axis in (axes.xaxis, axes.yaxis)):
        shown = tick_labels(axis)
        labels += shown
        ticks |= {label for tick in axis.majorTicks + axis.minorTicks for label in (tick.label1, tick.label2)}
        boxes = [label.get_window_extent(renderer) for label in shown]
        for first, second in pairwise(boxes):
            assert not first.overlaps(second), [label.get_text() for label in shown]
    others = [text for text in figure.findobj(Text) if text not in ticks and text.get_visible() and text.get_text()]
    boxes = [text.get_window_extent(renderer) for text in others]
    for first, second in combinations(boxes, 2):
        assert not first.overlaps(second), [text.get_text() for text in others]
    for text in labels + others:
        box, page = text.get_window_extent(renderer), figure.bbox.padded(1)
        assert page.x0 <= box.x0, text.get_text()
        assert box.x1 <= page.x1, text.get_text()
        assert page.y0 <= box.y0, text.get_text()
        assert box.y1 <= page.y1, text.get_text()


def tick_labels(axis):
    """The labels that are drawn: those of ticks in view."""
    low, high = sorted(axis.get_view_interval())
    ticks = [tick for tick in axis.get_major_ticks() if low - 1e-9 <= tick.get_loc() <= high + 1e-9]
    labels = [label for tick in ticks for label in (tick.label1, tick.label2)]
    return [label for label in labels if label.get_visible() and label.get_text()]
