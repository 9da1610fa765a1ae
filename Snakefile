# The pipeline on one screen: what it makes from params.yaml. Chapters stand in workflow/rules, one file each.
from snakemake.utils import min_version

min_version("9.0")


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/adapt.smk"
include: "workflow/rules/convert.smk"
include: "workflow/rules/cost.smk"
include: "workflow/rules/compare.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/track.smk"


localrules:
    all,
    report,
    prepare,  # images may have to be fetched, and machines of a cluster reach no network
    given,
    plan,
    track,


rule all:
    default_target: True
    input:
        rules.report.input,
        rules.track.output,


report: "workflow/report/workflow.rst"


onstart:
    ask_who_knows(workflow.executor_settings)
    for run in RUNS.values():
        for path in manifest.left_over(run.name, run.kind, SEEDS):
            path.unlink()
    for path in manifest.METRICS.glob("*.json"):
        if path.stem not in RUNS:
            path.unlink()


onsuccess:
    if edited := edited_since(STAMPS):
        raise WorkflowError(edited)
