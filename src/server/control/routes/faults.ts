import { z } from 'zod'
import type { Settings } from '../../../core/assumptions.ts'
import { refuseInvalid } from '../../../core/errors.ts'
import { arm, checkDraft, disarm, MAX_RULES, rearm, rewrite, ruleNamed } from '../../../core/faults/arm.ts'
import { expand } from '../../../core/faults/expand.ts'
import { lastsOf, type Preset, preset } from '../../../core/faults/preset.ts'
import { ALL_PRESETS, type FaultDraft, type FaultRule, storedRule } from '../../../core/faults/rule.ts'
import { draftSchema } from '../../../core/faults/rule-schema.ts'
import { standing, standingOf } from '../../../core/faults/standing.ts'
import { untimed } from '../../../core/faults/when.ts'
import { anyObject, list, listOf, queryInt, type ShapeOf } from '../../../core/fields.ts'
import type { Json, JsonObject } from '../../../core/json.ts'
import { mergePatch } from '../../../core/json.ts'
import { refuseUnknown } from '../../../core/refuse-unknown.ts'
import { change } from '../../../core/sandboxes/change.ts'
import type { Sandbox } from '../../../core/sandboxes/sandbox.ts'
import type { Service } from '../../../core/service.ts'
import { either, form } from '../../../core/strict-input.ts'
import { formatInstant } from '../../../core/time/instant.ts'
import { missingName, missingNote } from '../missing-name.ts'
import { flag, removedIds, route } from '../route.ts'

/** A fault rule with its counters. */
const faultView = (service: Service, settings: Settings) =>
  z.strictObject({ ...storedRule(service, settings).shape, ...standing().shape, ...missingNote() })

export type FaultView = ShapeOf<typeof faultView>

/** Fault rules in the order in which they are checked. */
const faultList = (service: Service, settings: Settings) =>
  listOf(faultView(service, settings)).extend({
    /** Ids of the rules that have not fired yet. */
    never_fired: z.array(z.string()),
  })

/** The removed rules. */
const removedFaults = () =>
  removedIds().extend({
    /** Ids of the removed rules that never fired. */
    never_fired: z.array(z.string()),
  })

export type RemovedFaults = ShapeOf<typeof removedFaults>

/** A preset with its fields, and the body that arms it. */
const presetView = () =>
  preset().extend({
    /**
     * `once`: the rule is spent when it has fired. `until_removed`: the rule fires until it is removed. `when` and `times` of a
     * rule override it.
     */
    lasts: z.enum(['once', 'until_removed']),
    example: z.strictObject({ preset: z.string() }),
  })

export type PresetView = ShapeOf<typeof presetView>

/** Presets, the primitives of a rule's own composition, and the values in requests that cause a fault without a rule. */
const presetList = () =>
  listOf(presetView()).extend({
    primitives: z.array(
      z.strictObject({
        name: z.string(),
        description: z.string(),
        /** A rule that uses it. */
        example: anyObject(),
      }),
    ),
    magic_values: z.array(
      z.strictObject({
        /** Its place in the request: `custom_id of an item`, `metadata.emu_script`. */
        place: z.string(),
        /** Its forms, each with its effect. */
        values: z.array(z.strictObject({ form: z.string(), description: z.string() })),
        /** The operation whose requests can contain it. */
        operation: z.string(),
      }),
    ),
  })

const retiming = () =>
  z
    .strictObject({
      dry_run: flag(),
      first: queryInt(1, Number.MAX_SAFE_INTEGER)
        .meta({ description: 'The rules fire on this number of matches, the first ones.' })
        .optional(),
      always: flag().meta({ description: 'The rules fire on every match.' }),
    })
    .refine(({ first, always }) => first === undefined || !always, {
      path: ['first'],
      error: 'must be left out with always=true',
    })
    .prefault({})

/** A draft that fires on other matches, as long as it is armed. It counts by the keys of its own `when`, or of its preset's. */
function withTiming(
  { times, when, ...draft }: FaultDraft,
  { first, always }: z.output<ReturnType<typeof retiming>>,
  { presets }: Service,
): FaultDraft {
  if (first === undefined && !always) return { ...draft, times, when }
  const { when: own } = expand({ ...draft, when }, { presets })
  return { ...draft, when: { ...untimed(own), ...(first !== undefined && { first }) } }
}

/** Fault rules, their counters, and the presets. */
export const faultRoutes = (service: Service) =>
  [
    route('GET /faults', {
      name: 'faults.list',
      summary: 'List the fault rules with their counters, in the order in which they are checked',
      returns:
        'Every rule with its matches, fires and counters; never_fired has the ids of the rules that have not fired.',
      output: (settings) => faultList(service, settings),
      handle: ({ sandbox }) => {
        const data = sandbox.faults.rules.map((rule) => viewOf(sandbox, rule))
        return { body: { ...list(data), never_fired: neverFired(data) } }
      },
    }),
    route('POST /faults', {
      name: 'faults.arm',
      summary:
        'Arm a fault rule, or a list of them, all or none: your own composition, or a preset with changed fields; first and always choose the matches that it fires on; with dry_run=true only check it',
      returns: 'The armed rule, or a list of them; life describes how long each lasts.',
      success: [200, 201],
      input: (settings) => {
        const draft = draftSchema(service, settings)
        const body = either<FaultDraft | readonly FaultDraft[]>(
          'must be a rule or a list of rules',
          form.object(draft),
          form.list(z.array(draft).min(1).max(MAX_RULES)),
        )
        return { body, query: retiming() }
      },
      output: (settings) => {
        const view = faultView(service, settings)
        return z.union([view, listOf(view)])
      },
      handle: ({ sandbox, body, query }) => {
        // The check of the body has already refused an invalid rule. The response for a valid one is an empty list.
        if (query.dry_run) return { body: list([]) }
        const { result } = change(sandbox, (scope) =>
          [body].flat().map((draft) => {
            const retimed = withTiming(draft, query, service)
            return arm(scope, service, retimed, 'control', wallOf(sandbox))
          }),
        )
        const data = result.map((rule) => viewOf(sandbox, rule))
        return {
          status: 201,
          body: Array.isArray(body) ? list(data) : (data[0] as FaultView),
        } // one draft, one rule
      },
    }),
    route('DELETE /faults', {
      name: 'faults.clear',
      summary: 'Remove every fault rule, and release the connections that they hold',
      returns: 'The ids of the removed rules, and of those that never fired.',
      output: removedFaults,
      handle: ({ sandbox }) => {
        const data = sandbox.faults.rules.map((rule) => viewOf(sandbox, rule))
        remove(sandbox, data)
        return { body: { removed: data.map(({ id }) => id), never_fired: neverFired(data) } }
      },
    }),
    route('GET /fault-presets', {
      name: 'faults.presets',
      summary: 'List the presets with their fields, the primitives, and the magic values of requests',
      returns:
        'Every preset with the body that arms it, every primitive with a rule that uses it, and magic_values, which need no rule.',
      output: presetList,
      handle: ({ sandbox: { options } }) => ({
        body: {
          ...list([...service.presets.values()].map(presetOf)),
          primitives: [...service.primitives.values()].map(({ name, description, example }) => ({
            name,
            description,
            example: { match: example.match ?? 'everything', do: [{ [name]: example.parameters }] },
          })),
          magic_values: options.strict ? [] : service.magic.map(({ actionsOf: _, ...value }) => value),
        },
      }),
    }),
    route('GET /fault-presets/{name}', {
      name: 'faults.preset',
      summary: 'Show one preset',
      returns: 'The preset with its fields, and the body that arms it.',
      output: presetView,
      handle: ({ params: { name } }) => ({
        body: presetOf(
          service.presets.get(name) ?? refuseUnknown('preset', name, service.presets.keys(), ALL_PRESETS),
        ),
      }),
    }),
    route('GET /faults/{id}', {
      name: 'faults.show',
      summary: 'Show one fault rule with its counters',
      returns: 'The rule.',
      output: (settings) => faultView(service, settings),
      handle: ({ sandbox, params }) => ({
        body: viewOf(sandbox, ruleNamed({ tx: sandbox.store.begin() }, params.id)),
      }),
    }),
    route('PATCH /faults/{id}', {
      name: 'faults.change',
      summary: 'Change fields of a fault rule by a merge patch (RFC 7396); its counters keep their values',
      returns: 'The rule.',
      input: () => ({ body: anyObject() }),
      output: (settings) => faultView(service, settings),
      handle: ({ sandbox, params, body }) => {
        const rule = ruleNamed({ tx: sandbox.store.begin() }, params.id)
        const draft = changed(sandbox, rule, body as JsonObject)
        const { result } = change(sandbox, (scope) => rewrite(scope, service, rule, draft))
        return { body: viewOf(sandbox, result) }
      },
    }),
    route('POST /faults/{id}/reset', {
      name: 'faults.reset',
      summary: 'Reset a fault rule: its counters are 0, and its time to live starts now',
      returns: 'The rule.',
      output: (settings) => faultView(service, settings),
      handle: ({ sandbox, params }) => {
        const rule = ruleNamed({ tx: sandbox.store.begin() }, params.id)
        const { result } = change(sandbox, (scope) => rearm(scope, rule, wallOf(sandbox)))
        return { body: viewOf(sandbox, result) }
      },
    }),
    route('DELETE /faults/{id}', {
      name: 'faults.remove',
      summary: 'Remove one fault rule, and release the connections that it holds',
      returns: 'The removed rule.',
      output: (settings) => faultView(service, settings),
      handle: ({ sandbox, params }) => {
        const view = viewOf(sandbox, ruleNamed({ tx: sandbox.store.begin() }, params.id))
        remove(sandbox, [view])
        return { body: view }
      },
    }),
  ] as const

const WAITING =
  'A fault rule was removed while requests waited at a gate: a replay sends them after that, without the rule.'

function remove(sandbox: Sandbox, rules: readonly FaultView[]): void {
  // Requests are recorded when they end.
  if (sandbox.faults.gates.size > 0) sandbox.recording.cannotRepeat(WAITING)
  change(sandbox, (scope) => {
    for (const { id } of rules) disarm(scope, id)
  })
}

function viewOf(sandbox: Sandbox, rule: FaultRule): FaultView {
  const { store, clock, options } = sandbox
  const operation = rule.match === 'everything' ? undefined : rule.match.operation
  const standing = standingOf(store, rule, { now: clock.now, wall: options.host() })
  return { ...rule, ...standing, ...missingName(sandbox, operation) }
}

function neverFired(rules: readonly FaultView[]): string[] {
  return rules.filter(({ fired }) => fired === 0).map(({ id }) => id)
}

function wallOf({ options }: Sandbox): string {
  return formatInstant(options.host())
}

/** The fields of a rule that its author writes. The emulator sets the others when it arms the rule. */
const WRITTEN = ['description', 'match', 'when', 'do', 'actions', 'priority', 'then', 'times', 'ttl'] as const

function changed({ service, settings }: Sandbox, rule: FaultRule, patch: JsonObject): FaultDraft {
  const fixed = ['id', 'preset'].filter((name) => Object.hasOwn(patch, name))
  const detail = 'cannot be changed; remove the rule and arm another'
  refuseInvalid(fixed.map((name) => ({ pointer: `/${name}`, detail })))
  const written = WRITTEN.filter((name) => rule[name] !== null).map((name) => [name, rule[name]] as const)
  const raw = mergePatch(Object.fromEntries(written) as unknown as Json, patch)
  const checked = checkDraft(raw, service, settings)
  refuseInvalid('issues' in checked ? checked.issues : [])
  return (checked as { draft: FaultDraft }).draft // otherwise there were issues
}

function presetOf(preset: Preset): PresetView {
  const { name, family, description, ...rest } = preset
  return { name, family, description, ...rest, lasts: lastsOf(preset), example: { preset: name } }
}
