import * as z from 'zod'
import type { ShapeOf } from '../../../core/fields.ts'
import { storageReport } from '../../../core/sandboxes/sandboxes.ts'
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

/** What could not be used of the files of a sandbox. */
const storageView = () =>
  storageReport().extend({
    sandbox: z.string(),
    /** Why it cannot be opened; null when it can. */
    problem: z.string().nullable(),
  })

export type StorageView = ShapeOf<typeof storageView>

/** Whether the process is alive, and what it is. */
const healthView = () =>
  z.strictObject({
    /** `ok`, or `read_only` when another process has taken over the data folder. */
    status: z.enum(['ok', 'read_only']),
    /** Of the package. */
    version: z.string(),
    /** Of the emulated API. Specification: Versioning. */
    contract_version: z.string(),
    /** Why nothing can be written; null while everything can. */
    problem: z.string().nullable(),
    /** Sandboxes that cannot be opened, or of whose files something could not be used and has been set aside. */
    storage: z.array(storageView()),
  })

export type HealthView = ShapeOf<typeof healthView>

/** What the emulator is, and whether it runs. */
export const aboutRoutes = [
  route({
    name: 'index',
    method: 'GET',
    path: '/',
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
  route({
    name: 'health',
    method: 'GET',
    path: '/health',
    summary: 'Tell whether the process is alive',
    returns:
      'Its versions; whether it can still write: an emulator that has lost its data folder is `read_only`; the sandboxes that cannot be opened, and what could not be used of the files of the others.',
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
    returns: 'That they are: the default sandbox is loaded, and any other when it is first asked for.',
    probe: true,
    withoutSandbox: true,
    output: () => z.strictObject({ status: z.literal('ready') }),
    handle: () => ({ body: { status: 'ready' as const } }),
  }),
] as const
