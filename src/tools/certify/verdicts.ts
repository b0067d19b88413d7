import { z } from 'zod'
import type { Finding } from '../../core/conduct/finding.ts'
import type { Preset } from '../../core/faults/preset.ts'
import type { Action } from '../../core/faults/primitive.ts'
import { isObject, type JsonObject, same } from '../../core/json.ts'
import type { LogEntry } from '../../core/log/request-log.ts'
import { json } from '../../core/strict-input.ts'
import type { TaskTruth } from '../../service/client-tasks.ts'

/** A command for an adapter, as it is written: `command`, and the arguments beside it. */
export type AdapterCommand = JsonObject & { readonly command: string }

/** The kinds of errors that an adapter reports. */
export const ERROR_KINDS =
  'rate_limited conflict gone not_found forbidden invalid server network timeout truncated malformed unknown'

/** What the client of an adapter concluded: exactly one of `ok`, `error` and `unsupported` is there. */
export const adapterAnswer = z
  .strictObject({
    ok: json().optional(),
    error: z
      .strictObject({
        kind: z.enum(ERROR_KINDS.split(' ')),
        status: z.int().nullish(),
        message: z.string().optional(),
      })
      .optional(),
    /** What the client had read before the error. */
    partial: json().optional(),
    unsupported: z.literal(true).optional(),
  })
  .refine((answer) => ['ok', 'error', 'unsupported'].filter((key) => key in answer).length === 1)

export type Answer = z.output<typeof adapterAnswer>

/** One command, what the client concluded, and what was true. */
export interface Conclusion {
  readonly command: AdapterCommand
  /** Undefined when the adapter ended instead of answering. */
  readonly answer: Answer | undefined
  /** The requests that it caused, in order. */
  readonly entries: readonly LogEntry[]
  readonly faults: readonly Preset[]
  /** The facts, each for the commands that need it: results and status of the job, ids of a list, whether a webhook is genuine. */
  readonly truth: TaskTruth & { readonly isGenuine?: boolean }
}

/** The verdicts on what only the client can show: what it concluded. Each is an error. In the order of the reference. */
const VERDICTS = {
  'key.replaced': {
    description: "The client sends another Idempotency-Key than the caller's.",
    section: 'Limits',
    fix: "Send the caller's key with every attempt, and make one only when the caller gives none.",
  },
  'stream.framing': {
    description: 'A valid stream is refused: because of its line ends, blank lines, or where its pieces end.',
    fix: 'Split at LF after joining all pieces, remove a CR at the end of a line, and skip empty lines.',
  },
  'stream.corrupted': {
    description: 'A text of a result differs from the one that was sent.',
    fix: 'Decode UTF-8 with one streaming decoder for all pieces: a piece may end inside a character.',
  },
  'stream.item-lost': {
    description: 'A result is missing although the stream was whole.',
    fix: 'Parse what is left after the last line break, too: the last line may have none.',
  },
  'stream.truncation-accepted': {
    description: 'A stream that ended early counts as a success.',
    fix: 'Compare the number of lines with request_counts.total, and read the stream again when some are missing.',
  },
  'job.all-failed': {
    description: 'A completed job with errors only is a failure of the call, or ends the client.',
    section: 'States and transitions',
    fix: 'A completed job is a success of the call; report the error of each item with its result.',
  },
  'job.by-index': {
    description: 'Results are matched with items by their position instead of custom_id.',
    fix: 'Look up the item of each line by its custom_id; the order of lines is not specified.',
  },
  'error.status-hidden': {
    description: 'An error does not have the status of the response that caused it.',
    section: 'HTTP: RFC 9110, 15 Status Codes',
    fix: 'Check the status before parsing the body, and keep it in the error when the body cannot be parsed.',
  },
  'response.refused': {
    description: 'A valid response is an error for the client.',
    section: 'Versioning',
    fix: 'Accept fields and values that the client does not know, and header names in any case.',
  },
  'result.wrong': {
    description: 'A success has another result than the service gave.',
    section: 'Resources and their fields',
    fix: 'Check the type and the form of a response before it counts as a success, and follow a list to its end.',
  },
  'client.ended': {
    description: 'The process of the client ends instead of reporting an error.',
    section: 'Certification',
    fix: 'Catch the error, and report it as the result of the call.',
  },
  'webhook.misjudged': {
    description: 'A webhook with a wrong or old signature is accepted, or one with a good signature refused.',
    section: 'Events',
    fix: 'Sign the bytes as they arrived, with the timestamp in front, and refuse one older than the tolerance.',
  },
}

/** Where no section is named, they are about results. */
export const conclusionVerdicts = Object.entries(VERDICTS).map(([code, facts]) => {
  return { code, section: 'Retrieve batch prediction results', ...facts }
})

type Problem = readonly [code: keyof typeof VERDICTS, message: string]

/** The most characters of an answer in a message, and in the evidence. */
const [SHOWN, KEPT] = [100, 500]

/** The findings about what a client concluded from one command, at most one of each verdict. */
export function conclusionFindings(conclusion: Conclusion): Finding[] {
  const { command, answer, entries } = conclusion
  const problems = [...callProblems(conclusion), ...resultProblems(conclusion)]
  const requests = entries.map(({ id }) => id)
  const evidence = { command: command.command, answer: JSON.stringify(answer ?? null).slice(0, KEPT) }
  return conclusionVerdicts.flatMap(({ code, section, fix }) => {
    const [, message] = problems.find(([each]) => each === code) ?? []
    return message === undefined
      ? []
      : [{ code, severity: 'error', message, requests, evidence, section, fix }]
  })
}

/** Requests that the client should not have sent, and errors that it should not have reported, or not like this. */
function* callProblems({ command, answer, entries, faults, truth }: Conclusion): Iterable<Problem> {
  const key = command.idempotency_key
  const posts = entries.filter(({ method }) => method === 'POST')
  const other = posts.map(({ headers }) => headers['idempotency-key'] ?? 'none').find((sent) => sent !== key)
  if (typeof key === 'string' && other !== undefined)
    yield ['key.replaced', `The caller gave the key ${key}; the client sent ${other}.`]
  const said = `the client reported ${shown(answer)}.`
  const last = entries.at(-1)
  const { status = 0 } = last === undefined || isCutOrOpen(last) ? {} : (last.response?.show() ?? last)
  const isStream = command.command === 'results'
  const haveAllFailed =
    truth.status === 'completed' && truth.lines?.every((line) => line.status === 'errored')
  if (answer === undefined) yield ['client.ended', `The process ended during ${command.command}.`]
  if (truth.isGenuine !== undefined && (answer?.ok === true) !== truth.isGenuine)
    yield ['webhook.misjudged', `The client reported ${shown(answer)}.`]
  // Bytes that are not HTTP have no status.
  const hasStatus = status >= 400 && !uses(faults, (action) => 'raw' in action)
  if (answer?.error !== undefined && hasStatus && answer.error.status !== status)
    yield ['error.status-hidden', `The response had the status ${status}, and ${said}`]
  const hasFailed = answer === undefined || (answer.error !== undefined && answer.error.kind !== 'timeout')
  if (!hasFailed || status !== 200 || uses(faults, isInvalid)) return
  if (isStream) yield ['stream.framing', `The stream was valid, but ${said}`]
  if (haveAllFailed) yield ['job.all-failed', `All items have errors, and ${said}`]
  if (answer !== undefined && !isStream && !haveAllFailed)
    yield ['response.refused', `The response was valid, but ${said}`]
}

/** Successes with another result than the service gave. */
function* resultProblems({ command, answer, faults, truth }: Conclusion): Iterable<Problem> {
  if (answer?.ok === undefined) return
  const { lines = [], ids = [] } = truth
  const { id, status = null } = isObject(answer.ok) ? answer.ok : {}
  const records = Array.isArray(answer.ok) ? answer.ok.filter(isObject) : []
  const isStream = command.command === 'results'
  const [key, noun] = isStream ? ['custom_id', 'results'] : ['id', 'records']
  const wanted = isStream ? lines.map(({ custom_id }) => custom_id) : ids
  const lost = wanted.filter((each) => !records.some((record) => record[key] === each))
  const lossOfStream = uses(faults, isCut) ? 'stream.truncation-accepted' : 'stream.item-lost'
  if (lost.length > 0) {
    const some = `${lost.length} of ${wanted.length} ${noun}: ${lost.join(', ')}`
    yield [isStream ? lossOfStream : 'result.wrong', `The client reported a success without ${some}.`]
  }
  if (truth.id !== undefined && id !== truth.id)
    yield ['result.wrong', `The client reported a success without the record: ${shown(answer)}.`]
  if (command.command === 'wait' && status !== truth.status)
    yield ['result.wrong', `The job is ${truth.status}, and the client reported ${JSON.stringify(status)}.`]
  for (const { custom_id, output } of records) {
    const own = lines.find((line) => line.custom_id === custom_id)
    if (own === undefined || same(own.output, output)) continue
    const text = `The output of ${custom_id} is ${JSON.stringify(output)}, which the service did not send.`
    if (!lines.some((line) => same(line.output, output))) yield ['stream.corrupted', text]
    else yield ['job.by-index', `The output of another item was reported for ${custom_id}.`]
  }
}

/** Whether a response is not over, or has ended too early for the client to have all of it. */
export function isCutOrOpen({ timing, faults }: LogEntry): boolean {
  return timing?.took === undefined || (faults?.sent !== undefined && faults.sent.end !== 'whole')
}

/** Whether one of these presets has such an action. */
export function uses(faults: readonly Preset[], fits: (action: Action) => boolean): boolean {
  const actionsOf = ({ do: own = [], actions = {} }: Preset) => [own, ...Object.values(actions)].flat()
  return faults.flatMap(actionsOf).some(fits)
}

/** Whether an action removes a part of a stream. */
function isCut(action: Action): boolean {
  return 'cut' in action || ('lines' in action && action.lines.truncate !== undefined)
}

/** Whether an action makes responses invalid. A further field may come with a later version. */
function isInvalid(action: Action): boolean {
  if ('pace' in action) return action.pace.stall_at !== undefined
  // A client may report a status that it does not know.
  if ('body' in action) return !isObject(action.body.patch) || 'status' in action.body.patch
  return isCut(action) || !('lines' in action || 'head' in action || 'state' in action)
}

function shown(answer: Answer | undefined): string {
  if (answer === undefined) return 'nothing: its process ended'
  if (answer.error === undefined) return JSON.stringify(answer.ok).slice(0, SHOWN)
  const { kind, status, message = '' } = answer.error
  return `the error ${kind}${status ? ` with the status ${status}` : ''}${message && ` (${message.slice(0, SHOWN)})`}`
}
