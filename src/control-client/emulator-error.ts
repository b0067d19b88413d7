import { type Issue, isObject } from '../core/json.ts'

/** The fields that an {@link EmulatorError} is created from. */
export interface EmulatorErrorFacts {
  readonly status: number
  readonly code: string
  readonly detail: string
  readonly mitigation?: string | undefined
  readonly issues?: readonly Issue[] | undefined
  /** The call, for the message: `POST /clock/advance`, with the sandbox if it is not the default one. */
  readonly asked?: string | undefined
}

/** The emulator has refused a call, or no emulator has responded. The message contains the problem, its place and the fix. */
export class EmulatorError extends Error {
  override readonly name = 'EmulatorError'
  /** HTTP status of the response; 0 if there was none. */
  readonly status: number
  /**
   * Machine-readable code: one of the error catalog such as `not_found`. If no emulator has responded: `no_answer`,
   * `no_emulator`, `closed`, or `not_ready` after a wait.
   */
  readonly code: string
  /** What went wrong. */
  readonly detail: string
  /** The fix; undefined if the detail contains it. */
  readonly mitigation: string | undefined
  /** Every wrong field of the call, by JSON Pointer. */
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

/** The refusal in a response with the standard error body; undefined for any other response. */
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

/** The error about a response of a server that is not an emulator. */
export function notAnEmulator(status: number, asked: string): EmulatorError {
  return new EmulatorError({
    status,
    code: 'no_emulator',
    detail: `The server at this address is not a workspace emulator: it responded with ${status}, but without ${status < 400 ? 'the header' : 'the error'} of an emulator.`,
    mitigation: 'Give the address that the emulator printed when it started.',
    asked,
  })
}

/** The wrong fields that a standard error body lists. */
function issuesIn(body: unknown): Issue[] {
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
  // The detail contains the first issue, unless it is about all of them.
  const rest = first === undefined || detail.includes(first.detail) ? others : issues
  const lines = rest.map(({ pointer, detail }) => `  ${pointer === '' ? '(whole)' : pointer}: ${detail}`)
  return [asked === undefined ? sentences : `${asked}: ${sentences}`, ...lines].join('\n')
}

/** Statuses that mean that there is nothing to remove: no emulator, no sandbox, or an emulator that is closing. */
const NOTHING_LEFT = [0, 404, 409]

/** Removes a sandbox; it also resolves if that is already removed, or the emulator is closed. */
export async function leave(remove: () => Promise<void>): Promise<void> {
  try {
    await remove()
  } catch (error) {
    if (!NOTHING_LEFT.includes((error as EmulatorError).status)) throw error
  }
}
