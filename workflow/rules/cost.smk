# Chapter: cost. What the network asks of hardware, and what that costs in joules and cycles.


rule workload:
    input:
        data=data_of,
        ann=f"{HOME}/ann.safetensors",
        snn=f"{HOME}/snn.safetensors",
        params=params_of("workload"),
        code=code_of("workload"),
    output:
        workload=f"{HOME}/workload.csv",
        activity=f"{HOME}/activity.csv",
        counts=f"{HOME}/counts.csv",
        pasc=f"{HOME}/trace_pasc.npz",
        plain=f"{HOME}/trace_if.npz",
    log:
        "logs/workload/{run}-{seed}.log",
    benchmark:
        "logs/times/workload/{run}-{seed}.tsv"
    conda:
        "../envs/pascal.yaml"
    threads: threads_of
    resources:
        mem_mb=megabytes(1500, 4000),
    script:
        "../scripts/workload.py"


rule energy:
    input:
        workload=rules.workload.output.workload,
        params=params_of("energy"),
        code=code_of("energy"),
    output:
        rows=f"{HOME}/energy.csv",
        summary=f"{HOME}/energy.json",
        ratios=f"{HOME}/ratios.csv",
        sensitivity=f"{HOME}/energy_sensitivity.csv",
    log:
        "logs/energy/{run}-{seed}.log",
    benchmark:
        "logs/times/energy/{run}-{seed}.tsv"
    conda:
        "../envs/pascal.yaml"
    threads: 1
    resources:
        mem_mb=1000,
    script:
        "../scripts/energy.py"


rule hardware:
    input:
        pasc=rules.workload.output.pasc,
        plain=rules.workload.output.plain,
        params=params_of("hardware"),
        code=code_of("hardware"),
    output:
        rows=f"{HOME}/hardware.csv",
        layers=f"{HOME}/hardware_layers.csv",
        comparison=f"{HOME}/hardware_comparison.csv",
        sensitivity=f"{HOME}/hardware_sensitivity.csv",
    log:
        "logs/hardware/{run}-{seed}.log",
    benchmark:
        "logs/times/hardware/{run}-{seed}.tsv"
    conda:
        "../envs/pascal.yaml"
    threads: threads_of
    resources:
        mem_mb=megabytes(1000, 2000),
    script:
        "../scripts/hardware.py"
