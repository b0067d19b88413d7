FROM node:20.19.5-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund --ignore-scripts
COPY . .
RUN npm run build

# The bundle holds its dependencies, so that the image needs neither node_modules nor a package manager at run time.
FROM node:20.19.5-bookworm-slim
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/dist ./dist
COPY --from=build /app/fixtures ./fixtures
RUN mkdir /data && chown 10001:10001 /data
USER 10001:10001
VOLUME /data
ENV NODE_ENV=production \
    WORKSPACE_EMULATOR_HOST=0.0.0.0 \
    WORKSPACE_EMULATOR_DATA=/data
EXPOSE 4010
HEALTHCHECK --interval=5s --timeout=4s --start-period=5s CMD ["node", "dist/cli.js", "wait", "--timeout", "3s"]
ENTRYPOINT ["node", "dist/cli.js"]
CMD ["start"]
