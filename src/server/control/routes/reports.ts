import { z } from 'zod'
import { conductReport } from '../../../core/conduct/finding.ts'
import { conductOf } from '../../../core/conduct/report.ts'
import { verdicts } from '../../../core/conduct/verdicts.ts'
import { didYouMean } from '../../../core/did-you-mean.ts'
import { refuse } from '../../../core/errors.ts'
import { requestTrace, traceOf } from '../../../core/explain/trace.ts'
import { queryInt, queryText, type ShapeOf } from '../../../core/fields.ts'
import { requestId } from '../../../core/log/request-log.ts'
import { bundleOf, recordingBundle } from '../../../core/record/bundle.ts'
import type { Sandbox } from '../../../core/sandboxes/sandbox.ts'
import { coverageOf, coverageReport } from '../coverage/report.ts'
import { entriesSince } from '../request-entry.ts'
import { route, stableOrNot } from '../route.ts'

const conductQuery = () =>
  z
    .strictObject({
      /** How often the clients repeat a failed call. Without it, a client that does not retry is right. */
      retries: queryInt(0, 100).optional(),
      /** Codes of verdicts that do not count, separated by commas. */
      except: queryText().superRefine(refuseUnknownCodes).transform(codesIn).optional(),
      /** Only requests from this virtual instant on, or after the request with this id. */
      since: queryText().optional(),
    })
    .prefault({})

/** What a report on the conduct of clients takes into account. */
export type ConductOptions = ShapeOf<typeof conductQuery>

/** Reports on what the clients have done: to one request, to a sandbox, and to the contract. */
export const reportRoutes = [
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
  route('GET /record', {
    name: 'recording.show',
    summary:
      'Show what the sandbox has seen since its state was last replaced, so that workspace-emulator replay can repeat it',
    returns:
      'The state at the start, every input in order, and a digest of every output. Keys and secrets are placeholders. `dropped` is the number of inputs before it.',
    output: recordingBundle,
    handle: async ({ host, sandbox, controlUrl }) => {
      const { emulator, ...facts } = host.recorded
      const origin = sandbox.origin ?? new URL(controlUrl).origin
      return { body: await bundleOf(sandbox, { ...facts, emulator: { ...emulator, origin } }) }
    },
  }),
  route('GET /coverage', {
    name: 'coverage',
    summary: 'Show which points of the contract the clients have met since the start, in all sandboxes',
    returns:
      'Every point, their counts, and the ten cheapest points that were not met, each with a way to meet it.',
    withoutSandbox: true,
    output: coverageReport,
    handle: ({ host: { coverage } }) => {
      const points = coverage()
      if (points !== undefined) return { body: coverageOf(points) }
      return refuse('conflict', {
        detail: 'Coverage is not counted.',
        mitigation:
          'Start the emulator with --count-coverage or startEmulator({ countCoverage: true }), or open the dashboard.',
      })
    },
  }),
  route('GET /conduct', {
    name: 'conduct',
    summary: 'Judge how the clients have behaved: waits, retries, keys, pages, polls, connections',
    returns: 'The findings with their requests, the most severe first, and what the log cannot show.',
    input: () => ({ query: conductQuery() }),
    output: conductReport,
    handle: ({ sandbox, query: { since, ...options } }) => ({
      body: conductOf(sandbox, entriesSince(sandbox, since, '/query/since'), options),
    }),
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

function codesIn(text: string): string[] {
  const codes = text.split(',').map((code) => code.trim())
  return codes.filter((code) => code !== '')
}

function refuseUnknownCodes(text: string, context: z.RefinementCtx): void {
  const known = verdicts.map(({ code }) => code)
  for (const code of codesIn(text).filter((each) => !known.includes(each))) {
    const message = `"${code}" is not the code of a verdict.${didYouMean(code, known)} Codes: ${known.join(', ')}`
    context.addIssue({ code: 'custom', message })
  }
}
