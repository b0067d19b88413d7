import { type AnyRoute, BASE, route } from '../route.ts'

/** What the emulator is, and whether it runs. */
export const aboutRoutes: readonly AnyRoute[] = [
  route({
    name: 'index',
    method: 'GET',
    path: '/',
    summary: 'List every route of the control interface',
    answers: 'Method, path and purpose of each route.',
    always: true,
    handle: ({ host, routes }) => ({
      body: {
        version: host.version,
        contract_version: host.contract.version,
        described_by: `${BASE}/openapi.json`,
        routes: routes.map(({ method, path, summary }) => ({ method, path: BASE + path, summary })),
      },
    }),
  }),
  route({
    name: 'health',
    method: 'GET',
    path: '/health',
    summary: 'Tell whether the process is alive',
    answers: 'Its versions, and whether it is ready.',
    probe: true,
    always: true,
    handle: ({ host }) => ({
      body: {
        status: 'ok',
        ready: host.ready(),
        version: host.version,
        contract_version: host.contract.version,
      },
    }),
  }),
  // Until the world is loaded, every route that is not `always` answers 503.
  route({
    name: 'ready',
    method: 'GET',
    path: '/ready',
    summary: 'Tell whether the world is loaded',
    answers: 'The world that answers; 503 until it is loaded.',
    probe: true,
    handle: ({ sandbox }) => ({ body: { status: 'ready', sandbox: sandbox.name } }),
  }),
]
