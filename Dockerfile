# The commands of academiceval. For the processor:
#   docker build --build-arg PIP="--index-url ADDRESS" -t academiceval .     (ADDRESS: where pip finds torch's CPU build; without it, the CUDA build is taken)
# With vLLM, on a machine with the NVIDIA container toolkit (the CUDA libraries come with the packages):
#   docker build --build-arg EXTRAS=offline,judge,report,ralm,vllm -t academiceval:cuda .
ARG BASE=python:3.11-slim-bookworm@sha256:a36c24f9cbdf4fd0f52d67f0823eeac19c2028c637cecc392d97f980d4fec56b
FROM ${BASE}
ARG EXTRAS=builder,judge,offline,ralm,report
ARG PIP=""
ENV PYTHONUNBUFFERED=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /src
COPY constraints.txt pyproject.toml README.md LICENSE ./
COPY builder builder
COPY lm_eval_tasks lm_eval_tasks
COPY hub_scripts hub_scripts
# vLLM pins versions of its own, torch's among them.
RUN case ",${EXTRAS}," in *,vllm,*) constraints= ;; *) constraints="-c constraints.txt" ;; esac \
    && pip install --no-cache-dir ${PIP} ${constraints} ".[${EXTRAS}]" \
    && academiceval link-tasks
# Triton, which comes with vLLM, compiles its kernels on the machine.
RUN case ",${EXTRAS}," in *,vllm,*) \
        apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/* ;; \
    esac
RUN useradd --create-home user && mkdir /work /home/user/.cache && chown user /work /home/user/.cache
USER user
WORKDIR /work
ENTRYPOINT ["academiceval"]
CMD ["--help"]
