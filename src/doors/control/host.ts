import type { IncomingMessage } from 'node:http'
import type { ErrorCode } from '../../kernel/errors.ts'
import type { CallBody } from '../../kernel/exchange.ts'
import type { JsonObject } from '../../kernel/json.ts'
import type { Service } from '../../kernel/operation.ts'
import type { Sandbox } from '../../kernel/sandbox.ts'

/** Why a request may not reach the control interface. */
export interface GuardVerdict {
  readonly status: number
  readonly code: ErrorCode
  /** What is wrong, and the way out. */
  readonly detail: string
}

/** How much a JSON body may hold. */
export interface BodyBounds {
  /** Bytes after content decoding; this many are still accepted. */
  readonly bytes: number
  /** Strings, numbers, literals and structural characters. */
  readonly tokens: number
}

/** What a world starts from anew. Whatever is absent is as the emulator was started. */
export interface ResetOptions {
  /** The name of a shipped world, or a fixtures document. */
  readonly fixtures?: string | JsonObject
  readonly seed?: number
  /** ISO 8601 instant with a zone. */
  readonly clock?: string
}

/** What the control interface needs of the emulator around it; `emulator.ts` implements it. */
export interface ControlHost {
  /** What all worlds of this emulator are worlds of: its declared operations, collections and interventions. */
  readonly service: Service
  /** Version of the package. */
  readonly version: string
  /** The emulated interface. Specification: Versioning. */
  readonly contract: { readonly title: string; readonly version: string }
  /** The control token; undefined where none is asked for. Never an API key. */
  readonly token: string | undefined
  /** Whether the world is loaded. */
  ready(): boolean
  /** The world that requests are about; only called while {@link ready}. */
  sandbox(): Sandbox
  /** Judges `Host` and `Origin`. Undefined lets the request pass. */
  guard(rawHeaders: readonly string[]): GuardVerdict | undefined
  /** Reads and parses a JSON body; never rejects. Undefined when the client went away. */
  readJson(req: IncomingMessage, bounds: BodyBounds): Promise<CallBody | undefined>
  /** Starts the world again. Throws `FixturesError` or `Refusal`, and then the world is as it was. */
  reset(options: ResetOptions): Promise<void>
  /** Told of errors that are our own fault; the client only sees a plain 500. */
  onSurprise(error: unknown): void
}
