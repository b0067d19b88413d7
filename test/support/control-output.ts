import { memoizeBySettings, Settings } from '../../src/core/assumptions.ts'
import type { Service } from '../../src/core/service.ts'
import { zodIssues } from '../../src/core/zod-issues.ts'
import { workspaceService } from '../../src/emulator/service.ts'
import type { AnyControlRoute } from '../../src/server/control/route.ts'
import { controlRoutes } from '../../src/server/control/routes/index.ts'
import { RouteTable } from '../../src/server/route-table.ts'

const DEFAULTS = new Settings()
const outputOf = memoizeBySettings(({ output }: AnyControlRoute, settings) => output(settings))
const tables = new WeakMap<Service, RouteTable<AnyControlRoute>>()

/** A response of the control interface with its whole body. */
interface Called {
  readonly status: number
  readonly body: unknown
}

/** Throws if a response of the control interface differs from the schema of its route. `path`: relative to `/__emulator`. */
export function checkOutput<C extends Called>(
  method: string,
  path: string,
  response: C,
  service: Service = workspaceService,
): C {
  const { status, body } = response
  const table = tables.get(service) ?? new RouteTable(controlRoutes(service))
  tables.set(service, table)
  const match = table.match(method, path.replace(/\?.*$/s, '') || '/')
  if (match.kind !== 'route' || method === 'HEAD') return response
  const { success = [200], media } = match.route
  if (status >= 300 ? !success.includes(status) || isRefusal(body) : media !== undefined) return response
  if (!success.includes(status)) throw new Error(`${method} ${path} declares no status ${status}`)
  const { error } = outputOf(match.route, DEFAULTS).safeParse(body)
  if (error === undefined) return response
  const issues = zodIssues(error, '').map(({ pointer, detail }) => `${pointer} ${detail}`)
  throw new Error(`${method} ${path}: the response is not what the route declares: ${issues.join('; ')}`)
}

function isRefusal(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'status_code' in body
}
