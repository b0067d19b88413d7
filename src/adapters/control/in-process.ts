import type { Json } from '../../core/json.ts'
import { DEFAULT_SANDBOX } from '../../core/sandboxes/name.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import { openSandbox, wellFormed } from '../selection.ts'
import { asRefusal, refused } from './answer.ts'
import { replyStatus, serveCall } from './call.ts'
import { type ControlCall, type ControlResponse, jsonText, type Transport } from './client/transport.ts'
import type { ControlHost } from './host.ts'
import { type AnyControlRoute, SMALL_BODY } from './route.ts'
import { controlRoutes } from './routes/index.ts'

/**
 * Carries calls to the control interface without HTTP: they are checked, served and refused as requests are, but pass no
 * guards, since anyone who is in the process needs no token. Nothing is shared: bodies and answers are copied as JSON, and bodies
 * have the bounds of requests, so that what works here works over HTTP.
 */
export function inProcess(host: ControlHost): Transport {
  const routes = controlRoutes(host.service)
  const known = new Map(routes.map((route) => [`${route.method} ${route.path}`, route]))
  return async (call) => {
    const route = known.get(call.route)
    if (route === undefined) throw new Error(`The control interface has no route ${call.route}`)
    // What JSON cannot say is wrong before anybody is called, as it is on the way to a socket.
    const text = route.method === 'GET' ? undefined : jsonText(call.body)
    try {
      return await serve({ host, routes }, route, call, bodyOf(host, route, text))
    } catch (error) {
      return refused(asRefusal(host, error))
    }
  }
}

async function serve(
  context: { readonly host: ControlHost; readonly routes: readonly AnyControlRoute[] },
  route: AnyControlRoute,
  {
    params = {},
    query = {},
    ifMatch,
    sandbox: name = DEFAULT_SANDBOX,
    signal = new AbortController().signal,
  }: ControlCall,
  body: Json | undefined,
): Promise<ControlResponse> {
  if (route.opens === true) await context.host.sandboxes.openSaved(name)
  const sandbox = await chosen(context.host, route, wellFormed(name, 'path'))
  const reply = await serveCall(context, { route, sandbox }, { params, query, body, ifMatch, gone: signal })
  return { status: replyStatus(reply), body: copied(reply.body), etag: reply.etag }
}

function chosen(
  { sandboxes }: ControlHost,
  route: AnyControlRoute,
  name: string,
): Sandbox | Promise<Sandbox> {
  if (route.withoutSandbox === true) return sandboxes.get(name) ?? sandboxes.default
  return openSandbox(sandboxes, name, route.method === 'GET')
}

function bodyOf(host: ControlHost, route: AnyControlRoute, text: string | undefined): Json | undefined {
  if (text === undefined) return undefined
  const body = host.parseJson(Buffer.from(text), route.bounds ?? SMALL_BODY)
  if (body.kind === 'refused') throw body.refusal
  return body.kind === 'json' ? body.value : undefined
}

// Absent stays absent, and what JSON does not know goes as it would on its way through a socket.
function copied(value: unknown): Json | undefined {
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as Json)
}
