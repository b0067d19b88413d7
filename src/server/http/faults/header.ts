import type { IncomingHttpHeaders } from 'node:http'
import { didYouMean } from '../../../core/did-you-mean.ts'
import { Refusal } from '../../../core/errors.ts'
import { arm, checkDraft } from '../../../core/faults/arm.ts'
import type { Preset } from '../../../core/faults/preset.ts'
import { ALL_PRESETS, type CountedBy, faultRules } from '../../../core/faults/rule.ts'
import { isTimed } from '../../../core/faults/when.ts'
import { change } from '../../../core/sandboxes/change.ts'
import type { Sandbox } from '../../../core/sandboxes/sandbox.ts'
import { formatInstant } from '../../../core/time/instant.ts'

/** The request header that selects faults. Lower case, as in `req.headers`. */
export const FAULT_HEADER = 'x-emulator-fault'

/** Maximum names in one header: each may arm a rule. */
const MAX_NAMES = 20

/** With these counters, a client that sends the header with every attempt succeeds at the second one. */
const EACH_REQUEST: readonly CountedBy[] = ['operation', 'idempotency_key']

/**
 * Reads the header X-Emulator-Fault: names of presets and ids of armed rules, separated by commas. Arms a rule for each preset,
 * unless an earlier request has done so. Refuses a name that is neither with `bad_request`; then nothing is armed.
 * @returns the ids of those rules, for `Call.armed`; undefined without the header
 */
export function faultsOfHeader(
  sandbox: Sandbox,
  headers: IncomingHttpHeaders,
): readonly string[] | undefined {
  const value = headers[FAULT_HEADER]
  if (value === undefined) return undefined
  const names = namesIn(String(value))
  return armPresets(
    sandbox,
    names.flatMap((name) => presetNamed(sandbox, name) ?? []),
  )
}

function namesIn(value: string): readonly string[] {
  if (value.trim() === '') return []
  const names = value.split(',').map((name) => name.trim())
  if (names.length > MAX_NAMES)
    throw refusal(`It names ${names.length} faults; at most ${MAX_NAMES} may be named in one request.`)
  if (names.includes('')) throw refusal('A name before or after a comma is empty.', EXAMPLE)
  return names
}

/** The preset with this name; undefined for an armed rule, which is decided as for every other request. */
function presetNamed({ service, store }: Sandbox, name: string): Preset | undefined {
  const preset = service.presets.get(name)
  const rules = store.rows(faultRules.name)
  if (preset === undefined) {
    if (rules.has(name)) return undefined
    const hint = didYouMean(name, [...service.presets.keys(), ...rules.keys()])
    const way = name.includes(';') ? ` ${NO_PARAMETERS}` : ''
    throw refusal(`There is no preset and no armed rule "${name}".${hint}${way}`, ALL_PRESETS)
  }
  if (preset.match === 'everything' || preset.match.webhook === undefined) return preset
  throw refusal(
    `The preset ${name} applies to webhooks, not to requests.`,
    `Arm it with "workspace-emulator faults add ${name}".`,
  )
}

// Rules that an earlier request has armed are kept, with their counts.
function armPresets(sandbox: Sandbox, presets: readonly Preset[]): readonly string[] {
  const wanted = new Map(presets.map((preset) => [`header:${preset.name}`, preset]))
  const missing = [...wanted].filter(([id]) => sandbox.store.get(faultRules.name, id) === undefined)
  if (missing.length > 0) {
    const wall = formatInstant(sandbox.options.host())
    change(
      sandbox,
      (scope) => {
        for (const [id, { name, when = {} }] of missing) {
          // A preset with its own timing keeps it.
          const own = isTimed(when) ? when : { ...when, nth: 1 }
          const raw = { id, preset: name, when: { by: EACH_REQUEST, ...own } }
          const checked = checkDraft(raw, sandbox.service, sandbox.settings)
          if ('issues' in checked) throw refusal(`The preset ${name} ${checked.issues[0]?.detail}.`)
          arm(scope, sandbox.service, checked.draft, 'header', wall)
        }
      },
      'header',
    )
  }
  return [...wanted.keys()]
}

function refusal(detail: string, mitigation?: string): Refusal {
  return new Refusal('bad_request', {
    detail: `The header X-Emulator-Fault is not valid. ${detail}`,
    issues: [{ pointer: '/headers/x-emulator-fault', detail }],
    ...(mitigation === undefined ? {} : { mitigation }),
  })
}

const NO_PARAMETERS =
  'Names cannot have parameters. To set parameters, arm a rule with "workspace-emulator faults add".'

const EXAMPLE = 'Write it like this: X-Emulator-Fault: retry-after-http-date, server-error'
