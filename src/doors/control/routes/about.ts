import { BASE, route } from '../route.ts'

/** What the emulator is, and whether it runs. */
export const aboutRoutes = [
  route({
    name: 'index',
    method: 'GET',
    path: '/',
    summary: 'List every route of the control interface',
    answers: 'Method, path and purpose of each route.',
    worldless: true,
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
    answers: 'Its versions.',
    probe: true,
    worldless: true,
    handle: ({ host }) => ({
      body: {
        status: 'ok',
        version: host.version,
        contract_version: host.contract.version,
      },
    }),
  }),
  // The server listens once all worlds are loaded, so that whoever can ask at all hears yes.
  route({
    name: 'ready',
    method: 'GET',
    path: '/ready',
    summary: 'Tell whether the worlds are loaded',
    answers: 'That they are.',
    probe: true,
    worldless: true,
    handle: () => ({ body: { status: 'ready' } }),
  }),
] as const
