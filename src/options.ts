import type { JsonObject } from './kernel/json.ts'
import type { ScenarioSource } from './kernel/scenario/source.ts'
import type { HostTime } from './kernel/time/clock.ts'

/** How an emulator is started. Everything has a default; the command line has a flag for each. */
export interface EmulatorOptions {
  /** TCP port; 0 for a free one. Default 4010. */
  readonly port?: number | undefined
  /** Address to listen on. Default 127.0.0.1. */
  readonly host?: string | undefined
  /** Host names beyond the loopback ones under which the emulator may be addressed. */
  readonly allowHosts?: readonly string[] | undefined
  /** Origins beyond the loopback ones whose pages may use the API. */
  readonly corsOrigins?: readonly string[] | undefined
  /** The starting world: a shipped name, the path of a file, or the document itself. Default `demo`. */
  readonly fixtures?: string | JsonObject | undefined
  /** Choices where the specification leaves room; see the assumption ledger. */
  readonly settings?: JsonObject | undefined
  /** Decides everything that is left to chance. Default 1. */
  readonly seed?: number | undefined
  /** ISO 8601 instant at which a new world starts. Default: the host's clock. */
  readonly clock?: string | undefined
  /** Virtual seconds per real second; 0 stands still. Default 1. */
  readonly rate?: number | undefined
  readonly skipOnPoll?: boolean | undefined
  /** `any`: an unknown key acts as the world's first key of its kind. Default `registered`. */
  readonly auth?: 'registered' | 'any' | undefined
  /** Whether rate limits refuse. Default true. */
  readonly limits?: boolean | undefined
  readonly strict?: boolean | undefined
  /** Whether answers name the fault rules that fired on them, in the header X-Emulator-Fault. Default false. */
  readonly revealFaults?: boolean | undefined
  /** Folder of the scenarios, which are loaded again whenever they change. Default: `scenarios`, or the shipped ones where there is no such folder. */
  readonly scenarios?: string | undefined
  /** Scenario that is active from the start on. Default: none, or in a saved world the one that was. */
  readonly scenario?: string | undefined
  /** Asked for by the control interface when set; never an API key. Required where `host` is not a loopback address. */
  readonly controlToken?: string | undefined
  /** Folder of the state files, one JSON file for each world that persists. Default `.workspace-emulator`. */
  readonly data?: string | undefined
  /** Keep everything in memory and write nothing to disk. Default false. */
  readonly ephemeral?: boolean | undefined
  /** What may not lose an acknowledged write: the death of the process, or a power cut. Default `process`. */
  readonly durability?: 'process' | 'power' | undefined
  /** Receivers of webhooks beyond this machine, each as `host:port`. */
  readonly allowWebhooks?: readonly string[] | undefined
  /** Told of what happens to the state file, and of defects. Default: says nothing. */
  readonly logger?: Logger | undefined
}

/** What is handed to an emulator by code of this house alone. */
export interface HouseOptions extends EmulatorOptions {
  /** Where scenarios come from instead of a folder. */
  readonly scenarioSource?: ScenarioSource
  /** The host's time. */
  readonly hostTime?: HostTime
}

/** Takes what happens, for people and machines to read. */
export interface Logger {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void
  error(message: string, fields?: Readonly<Record<string, unknown>>): void
}

/** Says nothing. */
export const SILENT: Logger = { info: () => {}, warn: () => {}, error: () => {} }
