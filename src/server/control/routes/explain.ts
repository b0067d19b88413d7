import { refuse } from '../../../core/errors.ts'
import { requestTrace, traceOf } from '../../../core/explain/trace.ts'
import { requestId } from '../../../core/log/request-log.ts'
import type { Sandbox } from '../../../core/sandboxes/sandbox.ts'
import { route, stableOrNot } from '../route.ts'

/** The route that explains the response to a request. */
export const explainRoutes = [
  route('GET /explain/{request_id}', {
    name: 'requests.explain',
    summary: 'Explain one API request by the id in its X-Emulator-Request-Id, in any sandbox',
    returns: 'Every step of the request, its changes, and the assumptions that the response relies on.',
    input: () => ({ query: stableOrNot() }),
    output: requestTrace,
    handle: async ({ host, params, query: { stable } }) => {
      const { name, number } = partsOf(params.request_id)
      const { sandbox } = await host.sandboxes.find(name)
      const entry = sandbox.log.find(params.request_id) ?? refuseUnknown(sandbox, params.request_id, number)
      return { body: traceOf(sandbox, entry, stable) }
    },
  }),
] as const

/** `default-000042` is request 42 of the sandbox `default`. */
function partsOf(id: string): { readonly name: string; readonly number: number } {
  const [, name, digits] = /^(.+)-(\d{6,})$/.exec(id) ?? []
  if (name !== undefined) return { name, number: Number(digits) }
  return refuse('not_found', {
    detail: `"${id}" is not the id of a request; an id is the name of a sandbox and a number, such as default-000042.`,
    mitigation:
      'Take it from the header X-Emulator-Request-Id of a response, or from "workspace-emulator requests".',
  })
}

function refuseUnknown(sandbox: Sandbox, id: string, number: number): never {
  const { requests, dropped, capacity } = sandbox.log
  // Further zeros are read as the same number, but they are another id.
  if (number === 0 || number > requests || id !== requestId(sandbox.name, number)) {
    const last = requests === 0 ? '' : `, and the last is ${requestId(sandbox.name, requests)}`
    return refuse('not_found', {
      detail: `There is no request ${id}: the sandbox has received ${requests} since its start or its last reset${last}.`,
      mitigation: '"workspace-emulator requests" lists the requests in the log.',
    })
  }
  return refuse('not_found', {
    detail: `The request ${id} is not in the log any more. The log keeps the newest ${capacity}; it has dropped ${dropped} since the emulator was started or the log was emptied.`,
    mitigation: 'Explain a request soon after it was sent.',
  })
}
