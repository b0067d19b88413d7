import type { LimitOverride } from '../core/core-assumptions.ts'
import type { ActiveScenario, ListedScenario, ShownScenario } from '../core/scenarios/source.ts'
import type { Stub, StubDraft } from '../core/scenarios/stub.ts'
import type { InboxMessage } from '../core/webhooks/inbox.ts'
import type { Delivery, SecretRotation, WebhookChange, WebhookDraft } from '../core/webhooks/records.ts'
import type { RotatedWebhook, WebhookView } from '../core/webhooks/resource.ts'
import type { Removed } from '../server/control/route.ts'
import type { AssumptionView, SettingsView } from '../server/control/routes/assumptions.ts'
import type { EndpointView } from '../server/control/routes/endpoints.ts'
import type { LimitDraft, LimitFill, LimitRules, LimitWindow } from '../server/control/routes/limits.ts'
import type { ScenarioStart } from '../server/control/routes/scenarios.ts'
import { type CallControl, dataOf } from './ask.ts'

/** Stubs: responses of endpoints without a contract in the specification. */
export type SandboxStubs = ReturnType<typeof stubsOver>

export function stubsOver(ask: CallControl) {
  const all = async (body: StubDraft | readonly StubDraft[]): Promise<readonly Stub[]> => {
    const made = await ask('POST /stubs', { body })
    return 'data' in made ? made.data : [made]
  }
  return {
    /** Creates the response of an endpoint. If two stubs match equally well, the later one responds. */
    create: async (draft: StubDraft): Promise<Stub> => (await all(draft))[0] as Stub, // one draft, one stub
    /** Creates several stubs, all of them or none. */
    createAll: (drafts: readonly StubDraft[]): Promise<readonly Stub[]> => all(drafts),
    list: (): Promise<readonly Stub[]> => dataOf(ask('GET /stubs')),
    show: (id: string): Promise<Stub> => ask('GET /stubs/{id}', { params: { id } }),
    /** @returns the removed stub */
    remove: (id: string): Promise<Stub> => ask('DELETE /stubs/{id}', { params: { id } }),
    /** Removes every stub, those of the fixtures and of the active scenario too. */
    clear: (): Promise<Removed> => ask('DELETE /stubs'),
  }
}

/** Rate limits. Specification: Limits / Rate limits. */
export type SandboxLimits = ReturnType<typeof limitsOver>

export function limitsOver(ask: CallControl) {
  return {
    /** The rate windows that contain requests. */
    list: (): Promise<readonly LimitWindow[]> => dataOf(ask('GET /limits')),
    /** The limits that differ from the default, whether limits are enforced, and the clock of the windows. */
    show: async (): Promise<LimitRules> => {
      const { overrides, enforced, clock } = await ask('GET /limits')
      return { overrides, enforced, clock }
    },
    /** Gives an operation its own limit. @returns every limit that differs from the default */
    set: (operation: string, limit: LimitDraft): Promise<readonly LimitOverride[]> =>
      dataOf(ask('PUT /limits/{operation}', { params: { operation }, body: limit })),
    /** Empties the windows of an operation, or all. Limits that were set stay. @returns the keys of the emptied windows */
    clear: (operation?: string): Promise<Removed> => ask('DELETE /limits', { query: { operation } }),
    /** Uses up the windows of an operation. @returns the filled windows */
    fill: (operation: string, fill: LimitFill): Promise<readonly LimitWindow[]> =>
      dataOf(ask('POST /limits/{operation}/fill', { params: { operation }, body: fill })),
  }
}

/** Settings: choices where the specification leaves something open. */
export type SandboxSettings = ReturnType<typeof settingsOver>

export function settingsOver(ask: CallControl) {
  return {
    show: (): Promise<SettingsView> => ask('GET /settings'),
    /** Changes settings by their dotted keys: null restores the default. */
    change: (changes: Readonly<Record<string, unknown>>): Promise<SettingsView> =>
      ask('PATCH /settings', { body: changes }),
    /** The questions that the specification leaves open, and the decisions of the emulator. */
    assumptions: (): Promise<readonly AssumptionView[]> => dataOf(ask('GET /assumptions')),
  }
}

/** Scenarios: scripts that control a sandbox. */
export type SandboxScenarios = ReturnType<typeof scenariosOver>

export function scenariosOver(ask: CallControl) {
  return {
    list: (): Promise<readonly ListedScenario[]> => dataOf(ask('GET /scenarios')),
    /** One scenario with the text of its script. */
    show: (name: string): Promise<ShownScenario> => ask('GET /scenarios/{name}', { params: { name } }),
    /** The scenario that is active on the sandbox; null while none is. */
    active: async (): Promise<ActiveScenario | null> => (await ask('GET /scenarios')).active,
    /** Starts a scenario instead of the active one. A refused scenario changes nothing. */
    start: (name: string, options?: ScenarioStart): Promise<ActiveScenario> =>
      ask('POST /scenarios/{name}/start', { params: { name }, body: options }),
    /** Stops the active scenario; its changes of records stay. Rejects with `conflict` if none is active. */
    stop: (): Promise<{ readonly stopped: string }> => ask('POST /scenarios/stop'),
    /** Loads changed scripts at once. */
    refresh: (): Promise<readonly ListedScenario[]> => dataOf(ask('POST /scenarios')),
  }
}

/** Endpoints of your own. What has been saved is loaded first. */
export function endpointsOver(ask: CallControl) {
  return {
    list: (): Promise<readonly EndpointView[]> => dataOf(ask('GET /endpoints')),
    /** What is wrong with the present files, as `file:line: message`. The last valid ones are then in force. */
    problems: async (): Promise<readonly string[]> => (await ask('GET /endpoints')).problems,
  }
}

/** Webhook subscriptions of a sandbox, and their deliveries. */
export type SandboxWebhooks = ReturnType<typeof webhooksOver>

export function webhooksOver(ask: CallControl) {
  return {
    list: (): Promise<readonly WebhookView[]> => dataOf(ask('GET /webhooks')),
    create: (draft: WebhookDraft): Promise<WebhookView> => ask('POST /webhooks', { body: draft }),
    /** Changes the receiver, the types or the secret of a subscription. Deliveries that exist keep their receiver. */
    change: (id: string, change: WebhookChange): Promise<WebhookView> =>
      ask('PATCH /webhooks/{id}', { params: { id }, body: change }),
    /** Gives a subscription a new secret, under the setting `webhooks.scheme: standard`. The one before signs, too, for the overlap. */
    rotate: (id: string, rotation: SecretRotation = {}): Promise<RotatedWebhook> =>
      ask('POST /webhooks/{id}/rotate', { params: { id }, body: rotation }),
    /** Removes a subscription. Its waiting deliveries are not sent. */
    delete: async (id: string): Promise<void> =>
      void (await ask('DELETE /webhooks/{id}', { params: { id } })),
    /** Removes every subscription except those of the settings. */
    clear: async (): Promise<void> => void (await ask('DELETE /webhooks')),
    /** The webhooks that the built-in inbox has received, newest first. Subscribe it with `create({ inbox: true })`. */
    inbox: (): Promise<readonly InboxMessage[]> => dataOf(ask('GET /webhooks/inbox')),
    /** Every delivery with its attempts, oldest first. */
    deliveries: (): Promise<readonly Delivery[]> => dataOf(ask('GET /webhooks/deliveries')),
    /** Sends an ended delivery again, or a waiting one at once. Faults do not apply to it. */
    redeliver: (id: string): Promise<Delivery> =>
      ask('POST /webhooks/deliveries/{id}/redeliver', { params: { id } }),
    /** Puts the webhook of a delivery into the built-in inbox, whatever the status of the delivery is. */
    toInbox: (id: string): Promise<Delivery> =>
      ask('POST /webhooks/deliveries/{id}/inbox', { params: { id } }),
  }
}
