import { expect, test } from 'vitest'
import * as z from 'zod'
import { Settings } from '../../src/core/assumptions.ts'
import { isObject } from '../../src/core/json.ts'
import { workspaceService } from '../../src/emulator/service.ts'
import { connect } from '../../src/index.ts'
import { VERSION_HEADER } from '../../src/server/control/route.ts'
import { controlRoutes } from '../../src/server/control/routes/index.ts'
import { RouteTable } from '../../src/server/route-table.ts'

const nameOf = ({ method, path }: { readonly method: string; readonly path: string }) => `${method} ${path}`

/** Routes that the client calls without a transport. */
const STREAMED = ['GET /events']

test('every route of the control interface has a client method, and the client calls no other route', async () => {
  const { asked } = await callEverything()
  const known = controlRoutes(workspaceService).map(nameOf)
  expect([...asked, ...STREAMED].sort()).toEqual(known.sort())
})

test('methods that list return an array, not the list object of the control interface', async () => {
  const { returned } = await callEverything()
  const sent = returned.filter(([, value]) => isObject(value) && value.object === 'list')
  const arrays = returned.filter(([, value]) => Array.isArray(value))
  expect([sent, arrays.length > 20]).toEqual([[], true])
})

async function callEverything() {
  const { asked, fetch } = recorder()
  const returned: [name: string, value: unknown][] = []
  const { defaultSandbox: sandbox, ...rest } = connect('http://127.0.0.1:1', { fetch })
  await callAll(rest, returned)
  await callAll(await sandbox.faults.arm({ preset: 'rate-limited' }), returned)
  await callAll(await sandbox.gates.hold('everything', { at: 'before-handler' }), returned)
  await callAll(sandbox, returned)
  return { asked, returned }
}

/** A fetch that responds to every route with a minimal valid body, and records which routes were called. */
function recorder() {
  const asked = new Set<string>()
  const table = new RouteTable(controlRoutes(workspaceService))
  const fetch = async (url: string | URL | Request, init?: RequestInit) => {
    const path = new URL(String(url)).pathname.replace(/^(\/@[^/]*)?\/__emulator/, '')
    const match = table.match(init?.method ?? 'GET', path || '/')
    if (match.kind !== 'route') throw new Error(`the client asks for ${init?.method} ${url}`)
    asked.add(nameOf(match.route))
    const output = match.route.output(new Settings())
    const isList = output instanceof z.ZodObject && 'data' in output.shape
    const body = isList
      ? { object: 'list', data: [] }
      : { id: 'x', passed: true, status: 'ready', routes: [] }
    return Response.json(body, { headers: { [VERSION_HEADER]: '0.0.0' } })
  }
  return { asked, fetch }
}

/** Calls every method of an object and of its parts, with the same arguments: these methods pass them on unchecked. */
async function callAll(part: object, returned: [name: string, value: unknown][]): Promise<void> {
  // `delete` goes last: a removed sandbox refuses every later call.
  const names = Object.keys(part).sort((a, b) => Number(a === 'delete') - Number(b === 'delete'))
  for (const name of names) {
    // These need keys, which are loaded over the transport first.
    if (['apiKey', 'keys', 'events', 'fetch'].includes(name)) continue
    const member: unknown = part[name as keyof typeof part]
    // These check their options, so they are called without any.
    const rest = WITHOUT_OPTIONS[name] ?? ['name', ARGUMENT, ARGUMENT]
    if (typeof member === 'function') returned.push([name, await member(...rest)])
    else if (typeof member === 'object' && member !== null) await callAll(member, returned)
  }
}

const WITHOUT_OPTIONS: Readonly<Record<string, readonly unknown[]>> = {
  ready: [],
  wait: [],
  waiting: [],
  advance: ['1h'],
}

const ARGUMENT = { id: 'x' }
