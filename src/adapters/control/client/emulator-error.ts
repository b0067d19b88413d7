import { type Issue, isObject } from '../../../core/json.ts'

/** What an {@link EmulatorError} says. */
export interface EmulatorErrorFacts {
  readonly status: number
  readonly code: string
  readonly detail: string
  readonly mitigation?: string | undefined
  readonly issues?: readonly Issue[] | undefined
  /** What was asked, for the message: `POST /clock/advance`, with the sandbox where it is not the default one. */
  readonly asked?: string | undefined
}

/** The emulator has refused a call, or there was none to answer it. The message says what, where, and the way out. */
export class EmulatorError extends Error {
  override readonly name = 'EmulatorError'
  /** HTTP status of the refusal; 0 where no emulator has answered. */
  readonly status: number
  /** Machine-readable: one of the error catalog such as `not_found`; where no emulator has answered, `no_answer`, `no_emulator` or `closed`. */
  readonly code: string
  /** What went wrong. */
  readonly detail: string
  /** The way out; undefined where the detail says it. */
  readonly mitigation: string | undefined
  /** Every member of what was sent that is wrong, by JSON Pointer. */
  readonly issues: readonly Issue[]

  constructor(facts: EmulatorErrorFacts, options?: ErrorOptions) {
    super(messageOf(facts), options)
    const { status, code, detail, mitigation, issues = [] } = facts
    this.status = status
    this.code = code
    this.detail = detail
    this.mitigation = mitigation
    this.issues = issues
  }
}

/** The refusal in a response in the standard error body; undefined for anything else. */
export function refusalIn(status: number, body: unknown, asked: string): EmulatorError | undefined {
  if (!isObject(body) || typeof body.message !== 'string' || typeof body.error !== 'string') return undefined
  return new EmulatorError({
    status,
    code: body.error,
    detail: body.message,
    mitigation: typeof body.mitigation === 'string' ? body.mitigation : undefined,
    issues: issuesIn(body),
    asked,
  })
}

/** That what answers is something else. */
export function notAnEmulator(status: number, asked: string): EmulatorError {
  return new EmulatorError({
    status,
    code: 'no_emulator',
    detail: `What answers is no workspace emulator: it gave ${status} and ${status < 400 ? 'nothing' : 'no error'} that one would give.`,
    mitigation: 'Give the address that the emulator printed when it started.',
    asked,
  })
}

/** The members that a standard error body finds wrong. */
export function issuesIn(body: unknown): Issue[] {
  const details = isObject(body) && isObject(body.details) ? body.details : {}
  const errors = Array.isArray(details.errors) ? details.errors : []
  return errors.filter(isObject).map(({ pointer, detail }) => ({
    pointer: String(pointer ?? ''),
    detail: String(detail ?? ''),
  }))
}

function messageOf({ asked, detail, mitigation, issues = [] }: EmulatorErrorFacts): string {
  const sentences = mitigation === undefined ? detail : `${detail} ${mitigation}`
  const [first, ...others] = issues
  // The detail names the first that is wrong, unless it speaks of all of them.
  const rest = first === undefined || detail.includes(first.detail) ? others : issues
  const lines = rest.map(({ pointer, detail }) => `  ${pointer === '' ? '(whole)' : pointer}: ${detail}`)
  return [asked === undefined ? sentences : `${asked}: ${sentences}`, ...lines].join('\n')
}

/** Whether an error says that what was to be removed is not there (any more). */
export function isGone(error: unknown): boolean {
  return error instanceof EmulatorError && error.status === 404
}

/** Whether an error says that there is no emulator (any more) of which something could be removed. */
export function isOver(error: unknown): boolean {
  return error instanceof EmulatorError && ['closed', 'no_answer'].includes(error.code)
}
