# Chapter: adapt. Levels per layer: by the metric (Algorithm 3), by a plan, or given by the parameters.


rule histogram:
    input:
        data=data_of,
        ann=start_of("ann.safetensors"),  # of a uniform run its own
        params=params_of("histogram"),
        code=code_of("histogram"),
    output:
        **results_of("histogram"),
    log:
        "logs/histogram/{run}-{seed}.log",
    benchmark:
        "logs/times/histogram/{run}-{seed}.tsv"
    conda:
        "../envs/pascal.yaml"
    threads: threads_of
    resources:
        gpu=gpus_of,
        mem_mb=megabytes(1500, 2000),
        runtime=minutes(60),
    script:
        "../scripts/histogram.py"


rule assign:
    input:
        histogram=f"{HOME}/histogram.csv",
        params=params_of("assign"),
        code=code_of("assign"),
    output:
        **results_of("assign"),
    log:
        "logs/assign/{run}-{seed}.log",
    benchmark:
        "logs/times/assign/{run}-{seed}.tsv"
    wildcard_constraints:
        run=names(*manifest.STAGES["assign"].kinds),
    conda:
        "../envs/pascal.yaml"
    threads: 1
    resources:
        mem_mb=megabytes(1000),
        runtime=minutes(30),
    script:
        "../scripts/assign.py"


rule plan_levels:
    input:
        data=data_of,
        ann=start_of("ann.safetensors"),
        histogram=f"{HOME}/histogram.csv",  # for a budget that is the metric's
        params=params_of("plan_levels"),
        code=code_of("plan_levels"),
    output:
        **results_of("plan_levels"),
    log:
        "logs/plan_levels/{run}-{seed}.log",
    benchmark:
        "logs/times/plan_levels/{run}-{seed}.tsv"
    wildcard_constraints:
        run=names(*manifest.STAGES["plan_levels"].kinds),
    conda:
        "../envs/pascal.yaml"
    threads: threads_of
    resources:
        gpu=gpus_of,
        mem_mb=megabytes(2000, 2000),
        runtime=minutes(240),
    script:
        "../scripts/plan_levels.py"


rule given:
    input:
        data=data_of,
        params=params_of("given"),
        code=code_of("given"),
    output:
        **results_of("given"),
    log:
        "logs/given/{run}-{seed}.log",
    benchmark:
        "logs/times/given/{run}-{seed}.tsv"
    wildcard_constraints:
        run=names(*manifest.STAGES["given"].kinds),
    conda:
        "../envs/pascal.yaml"
    threads: 1
    resources:
        mem_mb=megabytes(1000),
        runtime=minutes(30),
    script:
        "../scripts/given.py"
