# Chapter: track. MLflow is a sink: results are files first, and one process uploads them.

from pascal.pipeline.store import follow_store, tracked_file

if workflow.is_main_process:
    follow_store()


rule track:
    input:
        rules.report.input,
        params="build/report.json",
        code=code_of("track"),
    output:
        tracked_file(),
    log:
        "logs/track.log",
    benchmark:
        "logs/times/track.tsv"
    conda:
        "../envs/pascal.yaml"
    threads: 1
    resources:
        mem_mb=megabytes(1000),
        runtime=minutes(60),
    script:
        "../scripts/track.py"
