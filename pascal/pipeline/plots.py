"""The page of `dvc plots`: DVC's own asks the internet for vega, this one brings what Snakemake has of it along."""

from snakemake.assets import Assets

PAGE = "plots.html"  # in build/plan; named in .dvc/config
_SCRIPTS = ("vega/vega.js", "vega-lite/vega-lite.js", "vega-embed/vega-embed.js")
_HTML = """\
<!DOCTYPE html>
<html>
<head>
<meta charset="utf-8">
{{refresh_tag}}
<title>pascal: versions of the runs</title>
<style>body {{font: 14px/1.5 sans-serif; margin: 24px}}</style>
{scripts}
</head>
<body>
<p>A colour for each run, a dash for each version; means over seeds.</p>
{{plot_divs}}
</body>
</html>
"""


def page() -> str:
    """A template in which DVC puts its plots."""
    return _HTML.format(scripts="\n".join(f"<script>{Assets.get_content(name)}</script>" for name in _SCRIPTS))
