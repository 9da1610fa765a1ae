# Chapter: cost. What the network asks of hardware, and what that costs in joules and cycles.


rule workload:
    input:
        data=data_of,
        ann=f"{HOME}/ann.safetensors",
        snn=f"{HOME}/snn.safetensors",
        params=params_of("workload"),
        code=code_of("workload"),
    output:
        **results_of("workload"),
    log:
        "logs/workload/{run}-{seed}.log",
    benchmark:
        "logs/times/workload/{run}-{seed}.tsv"
    conda:
        "../envs/pascal.yaml"
    threads: threads_of
    resources:
        mem_mb=megabytes(1500, 4000),
        runtime=minutes(120),
    script:
        "../scripts/workload.py"


rule energy:
    input:
        workload=rules.workload.output.workload,
        params=params_of("energy"),
        code=code_of("energy"),
    output:
        **results_of("energy"),
    log:
        "logs/energy/{run}-{seed}.log",
    benchmark:
        "logs/times/energy/{run}-{seed}.tsv"
    conda:
        "../envs/pascal.yaml"
    threads: 1
    resources:
        mem_mb=megabytes(1000),
        runtime=minutes(30),
    script:
        "../scripts/energy.py"


rule hardware:
    input:
        pasc=rules.workload.output.pasc,
        plain=rules.workload.output.plain,
        params=params_of("hardware"),
        code=code_of("hardware"),
    output:
        **results_of("hardware"),
    log:
        "logs/hardware/{run}-{seed}.log",
    benchmark:
        "logs/times/hardware/{run}-{seed}.tsv"
    conda:
        "../envs/pascal.yaml"
    threads: threads_of
    resources:
        mem_mb=megabytes(1000, 2000),
        runtime=minutes(240),
    script:
        "../scripts/hardware.py"
