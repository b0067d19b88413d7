import { z } from 'zod'
import { inResponse } from '../core/assumptions.ts'
import { statusSettings } from '../core/error-kinds.ts'
import { refuse } from '../core/errors.ts'
import { type InputOf, nonEmptyText, timestamp } from '../core/fields.ts'
import { operation } from '../core/operation.ts'
import type { Caller } from '../core/request/auth.ts'
import type { Resource } from '../core/service.ts'
import { collection } from '../core/state/collection.ts'
import { DAY } from '../core/time/instant.ts'
import { extensible } from '../core/tomorrow.ts'
import { missing, requireVisible } from './records.ts'
import { users } from './teamspaces/schema.ts'

/** The categories of skills. Specification: Skill. */
export const skillCategories = [
  'document_analysis',
  'construction_project_management',
  'financial_analysis',
  'estimation',
  'quality_and_safety',
  'scheduling',
  'contracts_and_legal',
  'data_and_reporting',
  'research',
  'communication',
  'general_productivity',
] as const

const skillFields = () =>
  z.strictObject({
    object: z.literal('skill').default('skill'),
    id: nonEmptyText(),
    scope: z.enum(['user', 'account', 'builtin']),
    category: z.enum(skillCategories).register(extensible),
    slash_key: z.string(),
    name: z.string(),
    description: z.string(),
    instructions: z.string(),
    required_tools: z.array(z.string()),
    preferred_tools: z.array(z.string()),
    enabled: z.boolean(),
    account_id: z.string().nullable(),
    builtin_key: z.string().nullable(),
    promoted_at: timestamp().nullable(),
    creator_id: z.string().nullable(),
    created_at: timestamp(),
    updated_at: timestamp(),
  })

export type Skill = z.output<ReturnType<typeof skillFields>>

const skillRecord = () =>
  skillFields().superRefine((skill, context) => {
    for (const [member, message] of scopeFaults(skill))
      context.addIssue({ code: 'custom', path: [member], message })
  })

/** The issues of fields that do not fit the scope. Specification: Skill. */
function* scopeFaults(skill: Skill): Iterable<readonly [member: string, message: string]> {
  const { scope } = skill
  if (scope === 'account' && skill.account_id === null)
    yield ['account_id', 'must name the account that owns a skill of scope account']
  if (scope !== 'account' && skill.account_id !== null)
    yield ['account_id', `must be null for the scope ${scope}`]
  if (scope === 'user' && skill.builtin_key !== null)
    yield ['builtin_key', 'must be null for a skill that a user wrote']
  if (scope === 'user' && skill.promoted_at !== null) yield ['promoted_at', 'must be null for the scope user']
  if (scope === 'user' && skill.creator_id === null)
    yield ['creator_id', 'must name the author of a skill of scope user']
  if (Date.parse(skill.updated_at) < Date.parse(skill.created_at))
    yield ['updated_at', 'must not be before created_at']
}

/** A record of `skills` to write. */
export type SkillRecord = InputOf<typeof skillRecord>

export const skills = collection<Skill>({
  name: 'skills',
  label: 'skill',
  schema: skillRecord,
  check: ({ scope, creator_id }, tx) =>
    scope === 'user' ? missing(tx, users, creator_id ?? '', 'creator_id') : [],
  generate: ({ faker, chance, newId, ago, any, n }) => {
    const name = `${faker.word.verb()} ${faker.word.noun()}`
    const created_at = ago(chance.int(1, 200) * DAY)
    return {
      id: newId(),
      scope: 'user',
      category: skillCategories[n % skillCategories.length] ?? 'research',
      slash_key: name.replaceAll(' ', '-'),
      name,
      description: faker.company.catchPhrase(),
      instructions: faker.lorem.paragraph(),
      required_tools: [],
      preferred_tools: [],
      enabled: chance.next() < 0.9,
      account_id: null,
      builtin_key: null,
      promoted_at: null,
      creator_id: any(users).id,
      created_at,
      updated_at: created_at,
    }
  },
})

const promoteSkill = operation({
  name: 'skills.promote',
  method: 'POST',
  path: '/skills/{skill_id}/promote',
  summary: 'Promote a skill from its author to the company',
  section: 'Promote skill to company',
  permissionShown: true,
  refusals: ['validation_failed'],
  output: skillRecord,
  find: ({ tx, caller, params }) => {
    const skill = requireVisible(tx, skills, params.skill_id, (each) => isInReach(each, caller))
    checkRights(skill, caller)
    return skill
  },
  handle: ({ tx, target, caller, at, note }) => {
    note('U029')
    // The creation in a fixture may be after now, and the update must not be before it.
    const late = Date.parse(target.created_at) > Date.parse(at)
    const promoted = tx.in(skills).put({
      ...target,
      scope: 'account',
      account_id: caller.organization_id,
      promoted_at: at,
      updated_at: late ? target.created_at : at,
    })
    return { body: promoted }
  },
})

// The account is the organization. A private skill of another user is invisible to the caller.
function isInReach({ scope, account_id, creator_id }: Skill, caller: Caller): boolean {
  if (scope === 'builtin') return true
  if (scope === 'account') return account_id === caller.organization_id
  return creator_id !== null && creator_id === caller.user_id
}

function checkRights({ id, scope }: Skill, caller: Caller): void {
  const lacking: string[] = []
  if (!caller.account_admin) lacking.push('the key is not of an account admin')
  if (!caller.permissions.includes('ep:skills:write'))
    lacking.push('the key lacks the permission ep:skills:write')
  if (lacking.length > 0) {
    refuse('forbidden', {
      detail: `The skill "${id}" cannot be promoted: ${lacking.join(', ')}.`,
      mitigation: 'Its author promotes it, as an account admin whose key has ep:skills:write.',
      assumed: [['U029', statusSettings.forbidden]],
    })
  }
  if (scope !== 'user') {
    refuse('validation_failed', {
      detail: `The skill "${id}" has the scope ${scope}; only a skill of scope user can be promoted.`,
      assumed: [['U029', statusSettings.validation]],
    })
  }
}

export const skillsResource: Resource = {
  name: 'skills',
  operations: [promoteSkill],
  collections: [skills],
  assumptions: {
    items: [
      inResponse(
        'U029',
        'Which status a promotion of a skill has without the rights, and if the skill is not of scope user; and what account_id is then.',
        'Without the rights: the status in the setting status.forbidden. Another scope: status.validation. A private skill of another user: status.not_found, as for one that does not exist. account_id of a promoted skill is the id of the organization of the API key.',
        'The specification has no other object that could be the account of a skill. The statuses have settings.',
      ),
    ],
    settings: [],
  },
}
