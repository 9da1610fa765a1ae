# Chapter: convert. The spiking network, the proof that it equals the ANN, and its accuracy beside plain IF.


rule convert:
    input:
        data=data_of,
        ann=f"{HOME}/ann.safetensors",
        params=params_of("convert"),
        code=code_of("convert"),
    output:
        **results_of("convert"),
    log:
        "logs/convert/{run}-{seed}.log",
    benchmark:
        "logs/times/convert/{run}-{seed}.tsv"
    conda:
        "../envs/pascal.yaml"
    threads: 1
    resources:
        mem_mb=megabytes(1000, 2000),
        runtime=minutes(30),
    script:
        "../scripts/convert.py"


rule verify:
    input:
        data=data_of,
        ann=f"{HOME}/ann.safetensors",
        snn=f"{HOME}/snn.safetensors",
        params=params_of("verify"),
        code=code_of("verify"),
    output:
        **results_of("verify"),
    log:
        "logs/verify/{run}-{seed}.log",
    benchmark:
        "logs/times/verify/{run}-{seed}.tsv"
    conda:
        "../envs/pascal.yaml"
    threads: threads_of
    resources:
        gpu=gpus_of,
        mem_mb=megabytes(1500, 4000),
        runtime=minutes(120),
    script:
        "../scripts/verify.py"


rule evaluate:
    input:
        data=data_of,
        ann=f"{HOME}/ann.safetensors",
        params=params_of("evaluate"),
        code=code_of("evaluate"),
    output:
        **results_of("evaluate"),
    log:
        "logs/evaluate/{run}-{seed}.log",
    benchmark:
        "logs/times/evaluate/{run}-{seed}.tsv"
    conda:
        "../envs/pascal.yaml"
    threads: threads_of
    resources:
        gpu=gpus_of,
        mem_mb=megabytes(1500, 4000),
        runtime=minutes(120),
    script:
        "../scripts/evaluate.py"
