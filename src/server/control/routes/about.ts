import { z } from 'zod'
import { refuse } from '../../../core/errors.ts'
import type { ShapeOf } from '../../../core/fields.ts'
import { real } from '../../../core/time/real.ts'
import { BASE, route } from '../route.ts'

/** Every route of the control interface. */
const routeIndex = () =>
  z.strictObject({
    version: z.string(),
    contract_version: z.string(),
    /** Path of its OpenAPI document. */
    described_by: z.string(),
    routes: z.array(z.strictObject({ method: z.string(), path: z.string(), summary: z.string() })),
  })

export type RouteIndex = ShapeOf<typeof routeIndex>

/** A sandbox that cannot be opened. */
const storageView = () =>
  z.strictObject({
    sandbox: z.string(),
    /** Why it cannot be opened, and what to do. */
    problem: z.string(),
  })

export type StorageView = ShapeOf<typeof storageView>

/** The state and the versions of the process. */
const healthView = () =>
  z.strictObject({
    /** `ok`, or `read_only` when another process has taken over the data folder. */
    status: z.enum(['ok', 'read_only']),
    /** Version of the package. */
    version: z.string(),
    /** Version of the emulated API. Specification: Versioning. */
    contract_version: z.string(),
    /** Why nothing can be written; null while everything can. */
    problem: z.string().nullable(),
    /** Sandboxes that cannot be opened. */
    storage: z.array(storageView()),
  })

export type HealthView = ShapeOf<typeof healthView>

/** A process that is stopping, and the host on which its pid is valid. */
const processView = () =>
  z.strictObject({
    status: z.literal('stopping'),
    process: z.strictObject({
      pid: z.int(),
      /** Name of the host, boot and pid namespace. */
      host: z.string(),
    }),
  })

/** Routes about the emulator and its process. */
export const aboutRoutes = [
  route('GET /', {
    name: 'index',
    summary: 'List every route of the control interface',
    returns: 'Method, path and purpose of each route.',
    withoutSandbox: true,
    output: routeIndex,
    handle: ({ host, routes }) => ({
      body: {
        version: host.version,
        contract_version: host.contract.version,
        described_by: `${BASE}/openapi.json`,
        routes: routes.map(({ method, path, summary }) => ({ method, path: BASE + path, summary })),
      },
    }),
  }),
  route('GET /health', {
    name: 'health',
    summary: 'Show whether the process is alive',
    returns:
      'Its versions; its status: `read_only` after another process has taken over its data folder; the sandboxes that cannot be opened.',
    probe: true,
    withoutSandbox: true,
    output: healthView,
    handle: ({ host }) => {
      const problem = host.lockLost() ?? null
      return {
        body: {
          status: problem === null ? ('ok' as const) : ('read_only' as const),
          version: host.version,
          contract_version: host.contract.version,
          problem,
          storage: host.sandboxes
            .saved()
            .flatMap(({ name, problem }) => (problem === null ? [] : [{ sandbox: name, problem }])),
        },
      }
    },
  }),
  // The server listens after the default sandbox is loaded. A request for another sandbox waits until that one is loaded.
  route('GET /ready', {
    name: 'ready',
    summary: 'Show whether the emulator is ready for requests',
    returns:
      'The status ready: the default sandbox is loaded; the first request for any other sandbox loads that one.',
    probe: true,
    withoutSandbox: true,
    output: () => z.strictObject({ status: z.literal('ready') }),
    handle: () => ({ body: { status: 'ready' as const } }),
  }),
  route('POST /shutdown', {
    name: 'shutdown',
    summary: 'End the process of the emulator after requests in flight are finished and the state is saved',
    returns:
      'Its process and the host on which it runs, so that a client can wait for its end. 409 if the emulator runs inside another program.',
    success: [202],
    withoutSandbox: true,
    output: processView,
    handle: ({ host: { shutdown, process } }) => {
      if (shutdown === undefined) {
        return refuse('conflict', {
          detail: 'The emulator runs inside another program, and ends with it.',
          mitigation: 'End that program, or call close() of the emulator in it.',
        })
      }
      // The response is sent first, like the responses of all requests in flight.
      real.setImmediate(shutdown)
      return { status: 202, body: { status: 'stopping' as const, process } }
    },
  }),
] as const
