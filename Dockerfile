# An image that counts, trains and predicts as an ordinary user: docker build --tag anysize .
# docs/deploy.md has how to run it. The first stage installs, the second one has what is needed to run.
FROM python:3.11-slim AS install
WORKDIR /source
COPY pyproject.toml README.md LICENSE constraints.txt ./
COPY src src
RUN python -m venv /opt/anysize
# Enough for SizeMix, kernels and baselines. INSTALL=".[learn]" adds torch, for Gamma models and GNNs.
ARG INSTALL=". scikit-learn safetensors"
RUN /opt/anysize/bin/pip install --no-cache-dir --constraint constraints.txt ${INSTALL}

FROM python:3.11-slim
COPY --from=install /opt/anysize /opt/anysize
ENV PATH=/opt/anysize/bin:$PATH NUMBA_CACHE_DIR=/opt/anysize/kernels
# Compile all kernels now rather than at the first count of every container.
RUN anysize compile && chmod -R a+rwX $NUMBA_CACHE_DIR
RUN useradd --uid 12345 --no-create-home anysize
USER anysize
WORKDIR /data
ENTRYPOINT ["anysize"]
