# An image for clusters: docs/container.md.
FROM python:3.12-slim AS build
COPY . /src
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels /src && cp /src/constraints.txt /wheels/

FROM python:3.12-slim
RUN --mount=from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir -c /wheels/constraints.txt "$(echo /wheels/basepar-*.whl)[plot]" \
    && useradd --create-home basepar
USER basepar
ENV OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
RUN basepar warmup
ENTRYPOINT ["basepar"]
