import type { LimitOverride } from '../../../core/core-assumptions.ts'
import type { ActiveScenario } from '../../../core/scenarios/source.ts'
import type { Stub, StubDraft } from '../../../core/scenarios/stub.ts'
import type { InboxMessage } from '../../../core/webhooks/inbox.ts'
import type { Delivery, WebhookDraft } from '../../../core/webhooks/records.ts'
import type { WebhookView } from '../../../core/webhooks/resource.ts'
import type { List, Removed } from '../route.ts'
import type { AssumptionView, SettingsView } from '../routes/assumptions.ts'
import type { LimitDraft, LimitFill, LimitList, LimitWindow } from '../routes/limits.ts'
import type { ScenarioList, ScenarioStart } from '../routes/scenarios.ts'
import type { StubList } from '../routes/stubs.ts'
import type { Ask } from './ask.ts'

/** Responses of endpoints that the specification shows no contract for. */
export type SandboxStubs = ReturnType<typeof stubsOver>

export function stubsOver(ask: Ask) {
  const all = async (body: StubDraft | readonly StubDraft[]): Promise<readonly Stub[]> => {
    const made = await ask('POST /stubs', { body })
    return 'data' in made ? made.data : [made]
  }
  return {
    /** Answers an endpoint from now on; of two stubs that fit equally well the later one does. */
    create: async (draft: StubDraft): Promise<Stub> => (await all(draft))[0] as Stub, // one draft, one stub
    /** Writes several stubs, all of them or none. */
    createAll: (drafts: readonly StubDraft[]): Promise<readonly Stub[]> => all(drafts),
    list: (): Promise<StubList> => ask('GET /stubs'),
    show: (id: string): Promise<Stub> => ask('GET /stubs/{id}', { params: { id } }),
    /** @returns the removed stub */
    remove: (id: string): Promise<Stub> => ask('DELETE /stubs/{id}', { params: { id } }),
    /** Removes every stub, those of the fixtures and of the active scenario too. */
    clear: (): Promise<Removed> => ask('DELETE /stubs'),
  }
}

/** Rate limits. Specification: Limits / Rate limits. */
export type SandboxLimits = ReturnType<typeof limitsOver>

export function limitsOver(ask: Ask) {
  return {
    list: (): Promise<LimitList> => ask('GET /limits'),
    /** Gives an operation a limit of its own. @returns all that differ from the default */
    set: (operation: string, limit: LimitDraft): Promise<List<LimitOverride>> =>
      ask('PUT /limits/{operation}', { params: { operation }, body: limit }),
    /** Empties the windows of an operation, or all. Limits that were set stay. @returns the keys of those that held requests */
    clear: (operation?: string): Promise<Removed> => ask('DELETE /limits', { query: { operation } }),
    /** Uses up the windows of an operation. @returns those that were filled */
    fill: (operation: string, fill: LimitFill): Promise<List<LimitWindow>> =>
      ask('POST /limits/{operation}/fill', { params: { operation }, body: fill }),
  }
}

/** Choices where the specification leaves something open. */
export type SandboxSettings = ReturnType<typeof settingsOver>

export function settingsOver(ask: Ask) {
  return {
    show: (): Promise<SettingsView> => ask('GET /settings'),
    /** Changes settings by their dotted keys: null goes back to the default. */
    change: (changes: Readonly<Record<string, unknown>>): Promise<SettingsView> =>
      ask('PATCH /settings', { body: changes }),
    /** What the specification leaves open, and what is done about it. */
    assumptions: (): Promise<List<AssumptionView>> => ask('GET /assumptions'),
  }
}

/** Scripts that make a sandbox do something. */
export type SandboxScenarios = ReturnType<typeof scenariosOver>

export function scenariosOver(ask: Ask) {
  return {
    list: (): Promise<ScenarioList> => ask('GET /scenarios'),
    /** Starts a scenario in the place of the active one, or refuses it whole. */
    start: (name: string, options?: ScenarioStart): Promise<ActiveScenario> =>
      ask('POST /scenarios/{name}/start', { params: { name }, body: options }),
    /** Stops the active scenario; its changes of records stay. Rejects with `conflict` where none is active. */
    stop: (): Promise<{ readonly stopped: string }> => ask('POST /scenarios/stop'),
    /** Loads changed scripts at once. */
    refresh: (): Promise<ScenarioList> => ask('POST /scenarios'),
  }
}

/** Webhook subscriptions of a sandbox, and what is delivered to them. */
export type SandboxWebhooks = ReturnType<typeof webhooksOver>

export function webhooksOver(ask: Ask) {
  return {
    list: (): Promise<List<WebhookView>> => ask('GET /webhooks'),
    create: (draft: WebhookDraft): Promise<WebhookView> => ask('POST /webhooks', { body: draft }),
    /** What is not yet sent is not sent. */
    delete: async (id: string): Promise<void> =>
      void (await ask('DELETE /webhooks/{id}', { params: { id } })),
    /** Removes every subscription but those of the settings. */
    clear: async (): Promise<void> => void (await ask('DELETE /webhooks')),
    /** What the built-in inbox has received, newest first: subscribe it with `create({ inbox: true })`. */
    inbox: (): Promise<List<InboxMessage>> => ask('GET /webhooks/inbox'),
    /** Every delivery with its attempts, oldest first. */
    deliveries: (): Promise<List<Delivery>> => ask('GET /webhooks/deliveries'),
    /** Sends a delivery again that has ended, or at once one that waits. Faults do not touch it then. */
    redeliver: (id: string): Promise<Delivery> =>
      ask('POST /webhooks/deliveries/{id}/redeliver', { params: { id } }),
  }
}
