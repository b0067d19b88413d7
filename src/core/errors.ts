import { z } from 'zod'
import { type AnySetting, type Reliance, type Settings, setting } from './assumptions.ts'
import { type ErrorCode, errorKindOf, errorKinds } from './error-kinds.ts'
import { nonEmptyText } from './fields.ts'
import { isRemainder, problemCount } from './issue-list.ts'
import { type Issue, isObject, type JsonObject, valueAt } from './json.ts'
import type { Admission } from './request/rate-limiter.ts'

/** The two error formats of the service: its standard body, and RFC 9457 problem details on batch endpoints. */
export type ErrorFormat = 'standard' | 'problem'

/** The facts of a refusal, in addition to its catalog entry. */
export interface RefusalOptions {
  /** The message for this caller and this request. */
  readonly detail: string
  /** All invalid fields, when the refusal is about fields of the request. */
  readonly issues?: readonly Issue[]
  /** How to fix the problem, when the advice depends on the request. It replaces that of the catalog. */
  readonly mitigation?: string
  readonly headers?: readonly (readonly [string, string])[]
  /** `details` of the standard body. */
  readonly details?: JsonObject
  /** Whether the same request can succeed later, when that differs from the catalog. */
  readonly retryable?: boolean
  /** A code other than the catalog's, which a user has chosen. */
  readonly word?: string
  /** A status other than the catalog's, when a setting of the operation decides it. */
  readonly status?: number
  /** The decision that the rate-limit headers describe, when another rule than the operation's own window has refused. */
  readonly admission?: Admission
  /** The real reason, for the request log, when the response must not reveal it. */
  readonly reason?: string
  /** Assumptions that the refusal relies on, beyond those of its code and status. */
  readonly assumed?: readonly Reliance[]
}

/** An error response to a request. Can be thrown anywhere in the pipeline; the writes of the transaction are then dropped. */
export class Refusal extends Error {
  readonly code: ErrorCode
  readonly options: RefusalOptions

  constructor(code: ErrorCode, options: RefusalOptions) {
    super(options.detail)
    this.name = 'Refusal'
    this.code = code
    this.options = options
  }

  /** This refusal instead of another. The request log has the details of both, the response only the detail of this one. */
  because(reason: Refusal): Refusal {
    const assumed = [...(this.options.assumed ?? []), ...(reason.options.assumed ?? [])]
    return new Refusal(this.code, { ...this.options, assumed, reason: reason.message })
  }
}

/** Throws a {@link Refusal}. An expression, so that it can follow `??`. */
export function refuse(code: ErrorCode, options: RefusalOptions): never {
  throw new Refusal(code, options)
}

/** The refusal for a defect of the emulator. The response has no details; the log has the cause. */
export function defect(): Refusal {
  return new Refusal('internal_error', {
    detail:
      'The emulator failed to handle the request. This is a defect of the emulator, not of the request.',
    mitigation: 'The log of the emulator has the cause.',
  })
}

/** The maximum number of further fields that one message names; `issues` contains all of them. */
const MAX_NAMED = 20

/** Throws `validation_failed` when there are issues. The message names up to 21 fields, misspelt ones first. */
export function refuseInvalid(given: readonly Issue[]): void {
  if (given.length === 0) return
  // A misspelt field is often the reason why another one is missing.
  const issues = [...given.filter(hasSuggestion), ...given.filter((issue) => !hasSuggestion(issue))]
  const listed = issues.filter((issue) => !isRemainder(issue))
  const total = problemCount(issues)
  const [first, ...others] = [...new Set(listed.map(({ pointer }) => pointer || '/'))]
  const count = total === 1 ? 'One field is' : `${total} fields are`
  refuse('validation_failed', {
    detail: `${count} not valid: ${first}: ${listed[0]?.detail}${alsoNamed(others, total - listed.length)}`,
    issues,
  })
}

function hasSuggestion({ detail }: Issue): boolean {
  return detail.includes('Did you mean')
}

function alsoNamed(pointers: readonly string[], unlisted: number): string {
  if (pointers.length === 0) return ''
  const rest = Math.max(0, pointers.length - MAX_NAMED) + unlisted
  const more = rest > 0 ? `, and ${rest} more` : ''
  return ` (also ${pointers.slice(0, MAX_NAMED).join(', ')}${more})`
}

/** The facts of an error response that do not depend on its error format. */
type ErrorFacts = ReturnType<typeof errorFacts>

/** The status under the settings in force, and the assumptions that status and code rely on. */
export function errorFacts(refusal: Refusal, settings: Settings) {
  const kind = errorKindOf(refusal.code)
  const assumed: Reliance[] = [...(refusal.options.assumed ?? [])]
  if (kind.documented !== true) assumed.push([errorCodes.item, errorCodes])
  // A refusal with its own status does not rely on the setting.
  const status = refusal.options.status ?? kind.status
  if (typeof status === 'number') return { kind, status, assumed }
  assumed.push([status.item, status])
  return { kind, status: settings.get(status), assumed }
}

/** The assumptions that the fields of an error body rely on, in addition to those of status and code. */
export function bodyReliances({ code, options }: Refusal, errorFormat: ErrorFormat): readonly Reliance[] {
  const reads: AnySetting[] = []
  const hasIssues = options.issues !== undefined
  if (errorFormat === 'problem') {
    reads.push(errorTypeBase)
    if (hasIssues) reads.push(problemErrors)
  } else if (code === 'rate_limit_exceeded') reads.push(rateLimitReason)
  else if (hasIssues) reads.push(detailErrors)
  return reads.map((setting) => [setting.item, setting])
}

/** The codes in responses for errors whose codes the specification does not contain. */
export const errorCodes = setting<Readonly<Record<string, string>>>({
  key: 'errors.codes',
  item: 'U067',
  description:
    'Sets other words for error codes that the specification does not show: {"not_found": "resource_not_found"}. The request log keeps the words of the emulator.',
  schema: () => {
    const own = [...errorKinds].flatMap(([code, { documented }]) => (documented === true ? [] : [code]))
    return z.partialRecord(z.enum(own), nonEmptyText()) as z.ZodType<Record<string, string>>
  },
  default: {},
})

/** The code that a response shows. */
export function shownCode(code: string, settings: Settings): string {
  return settings.get(errorCodes)[code] ?? code
}

export const rateLimitReason = setting({
  key: 'errors.rate_limit_reason',
  item: 'U065',
  description: 'Sets the reason in the details of a 429.',
  schema: () => nonEmptyText(),
  default: 'rate_limit_exceeded',
})

export const detailErrors = setting({
  key: 'errors.detail_errors',
  item: 'U065',
  description: 'Decides whether the details of a standard error list every faulty field as errors.',
  schema: () => z.boolean(),
  default: true,
})

export const problemErrors = setting({
  key: 'errors.problem_errors',
  item: 'U076',
  description: 'Decides whether a problem lists every faulty field in the extension errors.',
  schema: () => z.boolean(),
  default: true,
})

/** Whether error bodies still have `statusCode`, the deprecated copy of `status_code`. */
export const deprecatedStatusCode = setting({
  key: 'errors.deprecated_status_code',
  item: 'U073',
  description: 'Decides whether standard error bodies carry the deprecated field statusCode.',
  schema: () => z.boolean(),
  default: true,
  observe: ({ received: body }) =>
    isObject(body) && 'status_code' in body ? 'statusCode' in body : undefined,
})

/** A placeholder in settings for the control interface of the sandbox, as an absolute URL. */
const EMULATOR = '{emulator}'

/** The beginning of the type URL of problems. */
export const errorTypeBase = setting({
  key: 'errors.type_base',
  item: 'U066',
  description:
    'Sets the beginning of the type URL of a problem; a slash and the code follow. {emulator} is replaced by the URL of the control interface of the sandbox, at the origin of the request.',
  schema: () =>
    z
      .string()
      .refine((base) => URL.canParse(base.replace(EMULATOR, 'http://localhost')) && !/[?#\s]/.test(base), {
        error:
          'must be an absolute URL without query and fragment, such as https://errors.example.com, or begin with {emulator}',
      }),
  default: `${EMULATOR}/problems`,
  observe: ({ received }) => {
    const base = /^(https?:\/\/[^?#]+)\/[^/?#]+$/.exec(String(valueAt(received, '/type')))?.[1]
    // The traffic of an emulator has its address.
    return base?.replace(/^.*\/__emulator\b.*(?=\/problems$)/, EMULATOR)
  },
})

/** The header of every 401 (RFC 9110, 15.5.2), also of one that a setting chooses. */
export const CHALLENGE = [['WWW-Authenticate', 'Bearer']] as const

/** The standard error body. Specification: Errors / Standard error body. */
export function standardBody(refusal: Refusal, { kind, status }: ErrorFacts, settings: Settings): JsonObject {
  const { detail, issues, details } = refusal.options
  const mitigation = refusal.options.mitigation ?? kind.mitigation
  return {
    status_code: status,
    ...(settings.get(deprecatedStatusCode) ? { statusCode: status } : {}),
    error: refusal.options.word ?? shownCode(refusal.code, settings),
    message: detail,
    ...(mitigation === undefined ? {} : { mitigation }),
    retryable: refusal.options.retryable ?? kind.retryable,
    details: {
      ...(refusal.code === 'rate_limit_exceeded' && { reason: settings.get(rateLimitReason) }),
      ...details,
      ...(issues !== undefined && settings.get(detailErrors) && { errors: issues }),
    },
  }
}

/** Problem details (RFC 9457). Specification: Errors / Batch prediction errors. */
export function problemBody(
  refusal: Refusal,
  { kind, status }: ErrorFacts,
  at: ErrorTarget,
  instance: string,
): JsonObject {
  const { settings } = at
  const { detail, issues } = refusal.options
  const mitigation = refusal.options.mitigation ?? kind.mitigation
  const advice = mitigation === undefined ? detail : `${detail} ${mitigation}`
  return {
    ...problem(at, refusal.options.word ?? shownCode(refusal.code, settings), kind.title, status, advice),
    // A URI reference (RFC 3986): the server accepts characters that a path must not have.
    instance: instance.toWellFormed().replaceAll(NOT_IN_A_PATH, encodeURIComponent),
    ...(issues !== undefined && settings.get(problemErrors) && { errors: issues }),
  }
}

const NOT_IN_A_PATH = /[^A-Za-z0-9_.~!$&'()*+,;=:@/%-]|%(?![0-9A-Fa-f]{2})/gu

/** The settings for a problem, and the control interface of its sandbox, as an absolute URL. */
export interface ErrorTarget {
  readonly settings: Settings
  readonly controlUrl: string
}

/** The type of a problem: a URL that ends with its code. */
export function problemType({ settings, controlUrl }: ErrorTarget, code: string): string {
  return `${settings.get(errorTypeBase).replaceAll(EMULATOR, controlUrl)}/${code}`
}

/** The four fields that every problem has, also inside result lines. */
export function problem(at: ErrorTarget, code: string, title: string, status: number, detail: string) {
  return { type: problemType(at, code), title, status, detail }
}

/** Whether an error means that the disk cannot be written at present. */
export function isStorageFailure(error: unknown): boolean {
  return error instanceof Refusal && error.code === 'storage_unavailable'
}
