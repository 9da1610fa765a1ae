# Chapter: compare. Rival methods on the trained network, the same images, in one accounting.


rule compare:
    input:
        data=data_of,
        ann=f"{HOME}/ann.safetensors",
        params=params_of("compare"),
        code=code_of("compare"),
    output:
        **results_of("compare"),
    log:
        "logs/compare/{run}-{seed}.log",
    benchmark:
        "logs/times/compare/{run}-{seed}.tsv"
    conda:
        "../envs/pascal.yaml"
    threads: threads_of
    resources:
        gpu=gpus_of,
        mem_mb=megabytes(1500, 4000),
        runtime=minutes(240),
    script:
        "../scripts/compare.py"
