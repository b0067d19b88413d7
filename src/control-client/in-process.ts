import type { Json } from '../core/json.ts'
import { DEFAULT_SANDBOX } from '../core/sandboxes/name.ts'
import { replyStatus, serveCall } from '../server/control/call.ts'
import type { ControlHost } from '../server/control/host.ts'
import { asRefusal, refused } from '../server/control/reply.ts'
import { type AnyControlRoute, SMALL_BODY } from '../server/control/route.ts'
import { controlRoutes } from '../server/control/routes/index.ts'
import { parseJsonBody } from '../server/http/json-body.ts'
import { parseName } from '../server/selection.ts'
import { jsonText, type Transport } from './transport.ts'

/**
 * Sends calls to the control interface without HTTP. They are checked, served and refused like requests, but without guards,
 * since code in the same process needs no token. Bodies and responses are copied as JSON, and bodies have the bounds of
 * requests, so that a call that works here works over HTTP.
 */
export function inProcess(host: ControlHost): Transport {
  const routes = controlRoutes(host.service)
  const known = new Map(routes.map((route) => [`${route.method} ${route.path}`, route]))
  return async (call) => {
    const route = known.get(call.route)
    if (route === undefined) throw new Error(`The control interface has no route ${call.route}`)
    // A value that JSON cannot contain is refused before the call, as it is over HTTP.
    const text = route.method === 'GET' ? undefined : jsonText(call.body)
    try {
      const body = bodyOf(route, text)
      const { params = {}, query = {}, ifMatch, sandbox = DEFAULT_SANDBOX } = call
      const gone = call.signal ?? new AbortController().signal
      parseName(sandbox, 'path')
      const given = { route, sandbox, params, query, body, ifMatch, gone }
      const [reply] = await serveCall({ host, routes }, given)
      return { status: replyStatus(reply), body: copied(reply.body), etag: reply.etag }
    } catch (error) {
      return refused(asRefusal(host, error))
    }
  }
}

function bodyOf(route: AnyControlRoute, text: string | undefined): Json | undefined {
  if (text === undefined) return undefined
  const body = parseJsonBody(Buffer.from(text), route.bounds ?? SMALL_BODY)
  if (body.kind === 'refused') throw body.refusal
  return body.kind === 'json' ? body.value : undefined
}

// A missing body stays missing. Values that JSON does not have are lost, as they are over HTTP.
function copied(value: unknown): Json | undefined {
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as Json)
}
