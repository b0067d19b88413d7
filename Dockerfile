FROM node:24.21.0-trixie-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund --ignore-scripts
COPY . .
RUN npm run build

FROM node:24.21.0-trixie-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --no-audit --no-fund --ignore-scripts

FROM node:24.21.0-trixie-slim
LABEL org.opencontainers.image.title="agent-workspace-emulator" \
      org.opencontainers.image.description="A local, deterministic emulator of the Agent Workspace Service" \
      org.opencontainers.image.licenses="MIT"
WORKDIR /app
COPY --from=build /app/package.json /app/LICENSE ./
COPY --from=build /app/dist ./dist
COPY --from=packages /app/node_modules ./node_modules
COPY --from=build /app/fixtures ./fixtures
COPY --from=build /app/scenarios ./scenarios
COPY --from=build /app/src/cli/init/templates ./src/cli/init/templates
# A number, so that an orchestrator can see that it is not root.
RUN mkdir /data && chown 10001:10001 /data
USER 10001:10001
VOLUME /data
ENV NODE_ENV=production \
    WORKSPACE_EMULATOR_HOST=0.0.0.0 \
    WORKSPACE_EMULATOR_PORT=4010 \
    WORKSPACE_EMULATOR_DATA=/data
EXPOSE 4010
# Reports the container as healthy within seconds after it is ready.
HEALTHCHECK --interval=5s --timeout=5s --start-period=20s \
    CMD ["node", "dist/cli.js", "wait", "--timeout", "3s"]
# Node is process 1, without an init: the emulator ends in order at SIGTERM, and Node reaps the processes that scripts run in.
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "dist/cli.js"]
CMD ["start"]
