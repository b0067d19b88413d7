import { BASE, route } from '../route.ts'

/** What the emulator is, and whether it runs. */
export const aboutRoutes = [
  route({
    name: 'index',
    method: 'GET',
    path: '/',
    summary: 'List every route of the control interface',
    answers: 'Method, path and purpose of each route.',
    withoutSandbox: true,
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
    answers:
      'Its versions; whether it can still write: an emulator that has lost its data folder is `read_only`; the sandboxes that cannot be opened, and what could not be used of the files of the others.',
    probe: true,
    withoutSandbox: true,
    handle: ({ host }) => {
      const problem = host.lockLost() ?? null
      return {
        body: {
          status: problem === null ? 'ok' : 'read_only',
          version: host.version,
          contract_version: host.contract.version,
          problem,
          storage: host.sandboxes.storage(),
        },
      }
    },
  }),
  // The server listens once the default sandbox is loaded; anyone who asks for another waits until it is.
  route({
    name: 'ready',
    method: 'GET',
    path: '/ready',
    summary: 'Tell whether requests are answered',
    answers: 'That they are: the default sandbox is loaded, and any other when it is first asked for.',
    probe: true,
    withoutSandbox: true,
    handle: () => ({ body: { status: 'ready' } }),
  }),
] as const
