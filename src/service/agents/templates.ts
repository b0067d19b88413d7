import { z } from 'zod'
import { refuse } from '../../core/errors.ts'
import { anyObject, nonEmptyText, timestamp } from '../../core/fields.ts'
import { operation, type Scope } from '../../core/operation.ts'
import type { Chance } from '../../core/random.ts'
import { seal } from '../../core/secrets.ts'
import { collection } from '../../core/state/collection.ts'
import { shown } from '../../core/state/state.ts'
import { extensible } from '../../core/tomorrow.ts'
import { presentedSecret, unusedSecret } from '../records.ts'
import { teamspaces } from '../teamspaces/schema.ts'
import { uncontracted } from '../uncontracted.ts'

const shownTemplate = () =>
  z
    .strictObject({
      id: nonEmptyText(),
      title: z.string(),
      description: z.string(),
      emoji: z.string(),
      category: z.string().register(extensible),
      connectors: z.array(anyObject()).default([]),
      prompt_examples: z.array(z.string()),
      is_curated_template: z.boolean(),
      config: z.strictObject({
        prompt: z.string(),
        custom_prompt: z.string(),
        tools: z.array(z.strictObject({ tool: z.string() })),
      }),
    })
    .meta({ title: 'agent_template' })

const templateRecord = () =>
  shownTemplate().extend({
    claim_token: nonEmptyText(),
    _emulator: z.strictObject({
      /** The teamspace whose callers may claim it; null: any caller. */
      teamspace_id: z.string().nullable().default(null),
      claimed_at: timestamp().nullable().default(null),
      /** True for a template of POST /agents/generate, whose result the specification does not show. */
      generated: z.boolean().optional(),
    }),
  })

type AgentTemplate = z.output<ReturnType<typeof templateRecord>>

export const agentTemplates = collection<AgentTemplate>({
  name: 'agent_templates',
  label: 'agent template',
  secrets: ['claim_token'],
  schema: templateRecord,
  generate: ({ faker, n, newId, any }) => ({
    id: newId(),
    title: `${faker.company.buzzVerb()} ${faker.company.buzzNoun()}`,
    description: faker.company.catchPhrase(),
    emoji: faker.internet.emoji(),
    category: faker.commerce.department(),
    prompt_examples: [faker.lorem.sentence(), faker.lorem.sentence()],
    is_curated_template: n % 2 === 0,
    config: { prompt: faker.lorem.sentence(), custom_prompt: '', tools: [] },
    // In plain text here; the sandbox keeps only its digest.
    claim_token: `generated-claim-token-${n}`,
    _emulator: { teamspace_id: any(teamspaces).id },
  }),
})

export const claimTemplate = operation({
  name: 'agents.claim',
  method: 'POST',
  path: '/agents/claim',
  summary: 'Claim a generated agent template',
  section: 'Claim a generated agent template',
  secrets: ['claim_token'],
  refusals: ['not_found'],
  output: shownTemplate,
  input: ({ object }) => ({ body: object({ claim_token: nonEmptyText() }) }),
  handle: ({ tx, body, caller, at, note }) => {
    const token = presentedSecret(body.claim_token)
    const template = tx.in(agentTemplates).find(({ claim_token, _emulator }) => {
      const mayClaim = [null, caller.teamspace_id].includes(_emulator.teamspace_id)
      return claim_token === token && _emulator.claimed_at === null && mayClaim
    })
    if (template === undefined) {
      return refuse('not_found', {
        detail: 'No unclaimed template has this claim token. A token works once.',
        mitigation: 'Generate another template with POST /agents/generate and claim it with its token.',
      })
    }
    note('U007')
    if (template._emulator.generated === true) note('U043')
    tx.in(agentTemplates).put({ ...template, _emulator: { ...template._emulator, claimed_at: at } })
    const { claim_token: _, ...rest } = template
    return { body: shown(rest) }
  },
})

export const generateTemplate = uncontracted({
  name: 'agents.generate',
  method: 'POST',
  path: '/agents/generate',
  summary: 'Generate an agent template',
  output: () => z.strictObject({ claim_token: z.string() }),
  input: () => ({ body: anyObject().optional() }),
  handle: ({ tx, body, caller, newId, newUuid, chance }) => {
    const claim_token = unusedSecret(newUuid, tx.in(agentTemplates), (each) => each.claim_token)
    tx.in(agentTemplates).insert({
      id: newId(),
      ...templateFrom(body ?? {}, chance),
      claim_token: seal(claim_token),
      _emulator: { teamspace_id: caller.teamspace_id, claimed_at: null, generated: true },
    })
    return { body: { claim_token } }
  },
})

// The specification does not define the generated template: each valid template field in the body is used.
function templateFrom(
  given: Readonly<Record<string, unknown>>,
  chance: Scope['chance'],
): Omit<z.output<ReturnType<typeof shownTemplate>>, 'id'> {
  const { id: _, ...shape } = shownTemplate().shape
  const valid = Object.entries(shape).flatMap(([name, schema]) => {
    const result = schema.safeParse(Object.hasOwn(given, name) ? given[name] : undefined)
    return result.success ? [[name, result.data] as const] : []
  })
  const taken: Partial<z.output<ReturnType<typeof shownTemplate>>> = Object.fromEntries(valid)
  const prompt = textOf(given.prompt) ?? textOf(taken.config?.prompt)
  return {
    title: titleFrom(prompt, chance('agent title', prompt ?? '')),
    description: prompt ?? 'An agent that was generated without a prompt.',
    emoji: '',
    category: '',
    connectors: [],
    prompt_examples: [],
    is_curated_template: false,
    config: { prompt: prompt ?? '', custom_prompt: '', tools: [] },
    ...taken,
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
}

/** The most words of the prompt in a title. */
const TITLE_WORDS = 4

// The same prompt and seed give the same title.
function titleFrom(prompt: string | undefined, chance: Chance): string {
  const role = chance.pick(['Assistant', 'Helper', 'Specialist', 'Analyst'])
  const [first = 'Generated', ...others] = (prompt?.match(/[\p{L}\p{N}]+/gu) ?? []).slice(0, TITLE_WORDS)
  return [first.charAt(0).toUpperCase() + first.slice(1), ...others, role].join(' ')
}
