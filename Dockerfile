FROM node:24-slim AS built
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY console/package.json console/
RUN npm ci --omit=dev --ignore-scripts
COPY scripts/prepack.ts scripts/build-program.ts scripts/
COPY scripts/build-console.ts scripts/reference.ts scripts/reference-page.ts scripts/
COPY client/src client/src
COPY console console
COPY src src
COPY data data
RUN node scripts/prepack.ts

FROM node:24-slim
# Lists are unpacked below TMPDIR: with a read-only root the volume is all that can be written.
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data TMPDIR=/data MALLOC_TRIM_THRESHOLD_=1048576
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The image is the newer Node that npm would bring otherwise.
RUN npm ci --omit=dev --omit=optional --ignore-scripts && npm cache clean --force
COPY data data
COPY --from=built /app/dist dist
COPY --from=built /app/console/dist console/dist
RUN install -d -o node -g node -m 700 /data
USER node
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT ?? 8080}/readyz`).then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--max-semi-space-size=8", "dist/cli.js"]
CMD ["serve"]
