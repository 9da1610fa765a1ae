"""A certificate for people: a verdict, a table of its layers, and what it speaks of."""

from html import escape
from typing import TYPE_CHECKING, Any

from pascal.text import html_table, text_table

if TYPE_CHECKING:
    from pascal.graph.certificate import LayerVerification, Verification

_HEADINGS = ("layer", "compared", "differ", "trains differ", "margin", "ties", "error", "bound")
_MOST_ROWS = 40


def as_text(certificate: "Verification") -> str:
    """Verdict, table and what it speaks of, for a terminal."""
    table = text_table(_HEADINGS, _rows(certificate))
    return "\n".join([verdict(certificate), "", *table, "", *_about(certificate)])


def as_html(certificate: "Verification") -> str:
    """The same for a notebook."""
    about = "<br>".join(escape(line) for line in _about(certificate))
    table = html_table(_HEADINGS, _rows(certificate))
    return f"<p><b>{escape(verdict(certificate))}</b></p>{table}<p>{about}</p>"


def verdict(certificate: "Verification") -> str:
    """The outcome on one line."""
    trains = "" if certificate.train_mismatches is None else f"{certificate.train_mismatches:,} trains, "
    logits = "" if certificate.logit_mismatches is None else f"{certificate.logit_mismatches:,} logits, "
    bound = "" if certificate.logit_bound is None else f", rounding allows {certificate.logit_bound:.3g}"
    first = "" if certificate.first_divergence is None else f", first in {certificate.first_divergence}"
    return (
        f"{'equal' if certificate.passed else 'NOT EQUAL'}: {certificate.images:,} images, "
        f"{certificate.neurons:,} neurons compared in {certificate.dtype}, "
        f"{certificate.count_mismatches:,} counts, {trains}{logits}"
        f"{certificate.prediction_mismatches:,} predictions differ{first}; "
        f"largest logit error {certificate.max_logit_error:.3g}{bound}"
    )


def _rows(certificate: "Verification") -> list[tuple[str, ...]]:
    """All layers, or of a deep network those that differ and the first and last ones."""
    layers = list(certificate.layers)
    if len(layers) > _MOST_ROWS:
        ends = {*range(_MOST_ROWS // 2), *range(len(layers) - _MOST_ROWS // 2, len(layers))}
        chosen = [layer for number, layer in enumerate(layers) if number in ends or layer.differs]
        left_out = len(layers) - len(chosen)
        return [*map(_row, chosen), (f"({left_out} more layers without a difference)", *[""] * (len(_HEADINGS) - 1))]
    return [_row(layer) for layer in layers]


def _row(layer: "LayerVerification") -> tuple[str, ...]:
    path = layer.path if layer.kind == "neurons" else f"{layer.path} ({layer.kind})"
    numbers = (layer.neurons, layer.mismatches, layer.train_mismatches)
    return (
        path,
        *map(_whole, numbers),
        _short(layer.margin),
        _whole(layer.ties),
        _short(layer.error),
        _short(layer.bound),
    )


def _about(certificate: "Verification") -> list[str]:
    named = {
        "engine": certificate.engine,
        "model": certificate.model_digest,
        "SNN": certificate.snn_digest,
        "data": certificate.data_digest,
        "versions": ", ".join(f"{name} {number}" for name, number in certificate.versions.items()),
        "date": certificate.date or "",
    }
    if certificate.prediction_ties:
        named["predictions"] = f"{certificate.prediction_ties:,} between classes that rounding cannot tell apart"
    notes = [f"{layer.path}: {layer.note}" for layer in certificate.layers if layer.note]
    return [f"{name}: {value}" for name, value in named.items() if value] + notes


def _whole(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _short(value: Any) -> str:
    return "" if value is None else f"{value:.3g}"
