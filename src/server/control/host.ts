import type { ScenarioRunner } from '../../adapters/scenarios/runner.ts'
import type { BundleFacts } from '../../core/record/bundle.ts'
import type { Sandboxes } from '../../core/sandboxes/sandboxes.ts'
import type { Service } from '../../core/service.ts'
import type { EndpointBook } from '../../endpoints/book.ts'
import type { AllowedHosts, AllowedPages } from '../http/guard.ts'
import type { CoveredPoint } from './coverage/report.ts'

/** The functions of the emulator that the control interface needs; `emulator.ts` implements them. */
export interface ControlHost {
  /** The emulated service of all sandboxes: its declared operations, collections and interventions. */
  readonly service: Service
  /** Version of the package. */
  readonly version: string
  /** The real instant at which the emulator was started. */
  readonly startedAt: string
  /** The emulated interface. Specification: Versioning. */
  readonly contract: { readonly title: string; readonly version: string }
  /** The control token; undefined if none is required. Never an API key. */
  readonly token: string | undefined
  /** Every sandbox. The names of sandboxes on disk are known before the first request. */
  readonly sandboxes: Sandboxes
  readonly scenarios: Pick<ScenarioRunner, 'list' | 'show' | 'refresh' | 'active' | 'start' | 'stop'>
  readonly endpoints: EndpointBook
  /** The points of the contract that clients have met; undefined unless they are counted. */
  coverage(): readonly CoveredPoint[] | undefined
  /** The process of the emulator, and the host on which its pid is valid. */
  readonly process: { readonly pid: number; readonly host: string }
  /** Why nothing is written to the data folder any more; undefined while its lock is held, or without a lock. */
  lockLost(): string | undefined
  /** Aborted when the emulator closes, to end calls that would run without end. */
  readonly closing: AbortSignal
  /** The hosts that its requests may address. */
  readonly hosts: AllowedHosts
  /** The pages that may use it besides its own. */
  readonly pages: AllowedPages
  /** The parts of a recording that are not about one sandbox. */
  readonly recorded: BundleFacts
  /** Ends the process of the emulator; undefined if the process belongs to another program. */
  readonly shutdown: (() => void) | undefined
  /** Called with errors that are defects of the emulator; the client only gets a plain 500. */
  onDefect(error: unknown): void
}
