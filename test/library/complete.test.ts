import { expect, test } from 'vitest'
import { controlRoutes } from '../../src/adapters/control/routes/index.ts'
import { RouteTable } from '../../src/adapters/route-table.ts'
import { connect } from '../../src/index.ts'
import { workspaceService } from '../../src/service.ts'

const nameOf = ({ method, path }: { readonly method: string; readonly path: string }) => `${method} ${path}`

/** What the client asks for otherwise than by a transport. */
const STREAMED = ['GET /events']

test('every route of the control interface is asked by some method of the client, and no other is', async () => {
  const { asked, fetch } = recorder()
  const { defaultSandbox: sandbox, ...rest } = connect('http://127.0.0.1:1', { fetch })
  await callAll(rest)
  await callAll(await sandbox.faults.arm({ preset: 'rate-limited' }))
  await callAll(sandbox)
  const known = controlRoutes(workspaceService).map(nameOf)
  expect([...asked, ...STREAMED].sort()).toEqual(known.sort())
})

/** A fetch that answers anything with what the client needs to go on, and keeps the routes that are asked for. */
function recorder() {
  const asked = new Set<string>()
  const table = new RouteTable(controlRoutes(workspaceService))
  const fetch = async (url: string | URL | Request, init?: RequestInit) => {
    const path = new URL(String(url)).pathname.replace(/^(\/@[^/]*)?\/__emulator/, '')
    const match = table.match(init?.method ?? 'GET', path || '/')
    if (match.kind !== 'route') throw new Error(`the client asks for ${init?.method} ${url}`)
    asked.add(nameOf(match.route))
    const isList = match.route.path.startsWith('/state/{collection}')
    return Response.json(isList ? { data: [] } : { id: 'x', passed: true, status: 'ready' })
  }
  return { asked, fetch }
}

/** Calls every method of an object and of its parts, each with arguments that the type of none is looked at. */
async function callAll(part: object): Promise<void> {
  // Last, since nothing can be asked of a sandbox that is removed.
  const names = Object.keys(part).sort((a, b) => Number(a === 'delete') - Number(b === 'delete'))
  for (const name of names) {
    // Its keys are looked up over the transport, and cannot be read before.
    if (['apiKey', 'keys', 'events', 'fetch'].includes(name)) continue
    const member: unknown = part[name as keyof typeof part]
    // These look at their options, which may be left out.
    const rest = WITHOUT_OPTIONS[name] ?? ['name', ARGUMENT, ARGUMENT]
    if (typeof member === 'function') await member(...rest)
    else if (typeof member === 'object' && member !== null) await callAll(member)
  }
}

const WITHOUT_OPTIONS: Readonly<Record<string, readonly unknown[]>> = { ready: [], wait: [], advance: ['1h'] }

const ARGUMENT = { id: 'x' }
