import type * as z from 'zod'
import { AssumptionCatalog, type Assumptions, type Settings, unique } from './assumptions.ts'
import type { Consent } from './consent.ts'
import type { MagicValue, Preset } from './faults/preset.ts'
import type { AnyPrimitive, Primitives } from './faults/primitive.ts'
import type { FaultDraft, FaultRule, FaultSource, StoredFaults } from './faults/rule.ts'
import type { IssueList } from './issue-list.ts'
import type { Issue } from './json.ts'
import type { Arrow } from './lifecycle.ts'
import type {
  AnyControl,
  AnyMilestone,
  AnyOperation,
  AnyRecordFault,
  AuthorizeRequest,
  EmbeddedProblem,
  EventHandler,
  RecordEvent,
  Scope,
  Script,
  WebhookType,
} from './operation.ts'
import { apiKeys } from './request/auth.ts'
import type { AnyCollection } from './state/collection.ts'
import type { Row } from './state/commit.ts'

/** The operations on fault rules that state documents and scenarios need. */
export interface FaultRules {
  /** The schema of a rule as users write it. */
  draft(service: Service, settings: Settings): z.ZodType<FaultDraft>
  /** Checks a rule as users write it. Issues have pointers into the rule. */
  check(
    raw: unknown,
    service: Service,
    settings: Settings,
  ): { readonly draft: FaultDraft } | { readonly issues: Issue[] }
  /** Arms a rule whose draft has been checked. @param wall the real instant, as a timestamp */
  arm(scope: Scope, service: Service, draft: FaultDraft, source: FaultSource, wall: string): FaultRule
  /** Removes a rule; refuses an unknown id. */
  remove(scope: Scope, id: string): void
  /** Removes the rules of a source; with `ids`, only those with these ids. */
  removeOf(scope: Scope, source: FaultSource, ids?: readonly string[]): void
  /** Checks the rules and counters of a state document, and adds to the issues. */
  accept(
    raw: { readonly faults: readonly unknown[]; readonly fault_counters: readonly unknown[] },
    service: Service,
    settings: Settings,
    issues: IssueList,
  ): StoredFaults
}

/** What a service has beside its resources. */
export interface ServiceFacts {
  /** The assumptions that are about no single resource. */
  readonly assumptions: Assumptions
  readonly primitives: readonly AnyPrimitive[]
  readonly presets: readonly Preset[]
  readonly rules: FaultRules
}

/** One service: the declarations of all its resources. Built once and shared by all sandboxes. */
export type Service = Readonly<ReturnType<typeof service>>

/**
 * Joins resources into a service. The collection of API keys, which core needs, is always included. Throws when two resources
 * declare the same name.
 */
export function service(resources: readonly Resource[], facts: ServiceFacts) {
  const all = <T>(of: (resource: Resource) => readonly T[] | undefined): readonly T[] =>
    resources.flatMap((resource) => of(resource) ?? [])
  const name = (each: { readonly name: string }) => each.name
  const named = <T extends { readonly name: string }>(of: Parameters<typeof all<T>>[0]) =>
    unique(all(of), name)
  return {
    resources,
    /** Every assumption where the specification leaves something open, with its settings. */
    assumptions: new AssumptionCatalog([
      facts.assumptions,
      ...resources.flatMap((each) => each.assumptions ?? []),
    ]),
    operations: named(({ operations }) => operations),
    collections: unique<AnyCollection>([apiKeys, ...all(({ collections }) => collections)], name),
    consents: named(({ consents }) => consents),
    events: unique(
      all(({ events }) => events),
      ({ kind }) => kind,
    ),
    milestones: all(({ milestones }) => milestones),
    webhookTypes: all(({ webhookTypes }) => webhookTypes),
    recordFaults: named(({ recordFaults }) => recordFaults),
    /** The actions that fault rules can have. */
    primitives: unique<AnyPrimitive>(facts.primitives, name),
    magic: all(({ magic }) => magic),
    rules: facts.rules,
    /** Rules with a name, in the order in which they are listed. */
    presets: unique(facts.presets, name),
    recordEvents: named(({ recordEvents }) => recordEvents),
    lifecycles: all(({ lifecycles }) => lifecycles),
    /** Whether a name that no operation has now may be in rules, limits and settings; absent: none may. */
    mayName: undefined as ((name: string) => boolean) | undefined,
    /** The records that scripts of scenarios can move; at most one resource declares it. */
    script: resources.find(({ script }) => script !== undefined)?.script,
  }
}

/** Calls `arm` of every resource for a record from outside the API. */
export function armRecord(service: Service, scope: Scope, table: string, record: Row): void {
  for (const resource of service.resources) resource.arm?.(scope, table, record)
}

/** One resource of the service. Adapters and core use only what it declares here. */
export interface Resource {
  readonly name: string
  readonly operations: readonly AnyOperation[]
  readonly collections: readonly AnyCollection[]
  readonly events?: readonly EventHandler[]
  readonly assumptions?: Assumptions
  readonly problems?: (settings: Settings) => readonly EmbeddedProblem[]
  /**
   * Schedules the events of a record that comes from outside the API: a fixture, a hand
   * edit, the control interface. Called for every record written that way; the same record may come again.
   */
  readonly arm?: (scope: Scope, table: string, record: Row) => void
  /** Refuses callers without access to the teamspace of their key. Runs in `authorize`, for every operation. */
  readonly authorize?: (request: AuthorizeRequest) => void
  /** Interventions that the control API offers on records of this resource. */
  readonly controls?: readonly AnyControl[]
  /** Pages on which a person allows or denies a request of a client. */
  readonly consents?: readonly Consent[]
  /** Conditions of records that time can be advanced to. */
  readonly milestones?: readonly AnyMilestone[]
  /** Types of the webhooks that records of this resource cause. */
  readonly webhookTypes?: readonly WebhookType[]
  /** Changes that the fault primitive `state` can make to records of this resource. */
  readonly recordFaults?: readonly AnyRecordFault[]
  /** Values of requests that trigger a fault, as test cards do with a payment provider; not under `--strict`. */
  readonly magic?: readonly MagicValue[]
  /** Events that scenarios can have a hook on. */
  readonly recordEvents?: readonly RecordEvent[]
  /** The transitions of the field `status` of its records. */
  readonly lifecycles?: readonly TableLifecycle[]
  /** Records of this resource that scripts of scenarios can move. */
  readonly script?: Script
}

/** The transitions of the field `status` of the records of a collection. */
export interface TableLifecycle {
  readonly table: string
  readonly arrows: readonly Arrow[]
  /**
   * Takes an arrow by its action, at any time; `hold` stops a record from changing by itself, and `cleanup` removes its results.
   * Does nothing to a record in another state, or to one that does not exist.
   */
  readonly act?: (scope: Scope, id: string, action: string) => void
}

/** The parameters of each fault primitive. */
export type FaultParameters = Primitives
