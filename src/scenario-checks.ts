import { readFile } from 'node:fs/promises'
import { FixturesError, readFixtures } from './doors/fixtures.ts'
import { offsetOf, placeOf } from './doors/json-text.ts'
import type { Candidate } from './doors/scenarios/load-scenario.ts'
import type { Check, ScenarioVocabulary } from './doors/scenarios/schema.ts'
import { sourcePlace } from './doors/scenarios/source-places.ts'
import { Settings } from './kernel/assumptions.ts'
import { Refusal } from './kernel/errors.ts'
import { checkDraft } from './kernel/faults/arm.ts'
import { type Issue, isObject, type JsonObject } from './kernel/json.ts'
import type { ScriptProblem } from './kernel/scenario/source.ts'
import { checkStepAction } from './kernel/scenario/step-actions.ts'
import { checkStub } from './kernel/scenario/stub-schema.ts'
import { planMerge } from './kernel/state/merge-fixtures.ts'
import type { Sandbox } from './kernel/worlds/sandbox.ts'
import { zodIssues } from './kernel/zod-issues.ts'
import { ledger, workspaceService } from './resources/index.ts'

/** A scenario file and everything that is wrong with it. */
export interface CheckedScenario {
  readonly file: string
  readonly problems: readonly ScriptProblem[]
}

/** What scenarios of this service may speak of. */
export function scenarioVocabulary(settings = new Settings()): ScenarioVocabulary {
  return {
    events: [...workspaceService.happenings.keys()],
    checks: {
      // Whether its records fit can be told of a world alone.
      fixtures: (raw) => (isObject(raw) ? [] : MUST_BE_OBJECT),
      settings: (raw) => (isObject(raw) ? ledger.check(raw) : MUST_BE_OBJECT),
      pace: short('pace'),
      outcomes: short('outcomes'),
      rule: (raw) => issuesOf(checkDraft(raw, workspaceService, settings)),
      stub: (raw) => issuesOf(checkStub(raw, workspaceService)),
      action: (raw) => checkStepAction(raw, workspaceService, settings),
    },
  }
}

/**
 * Loads scenarios as a start does, and holds what they add to a world against a given one; nothing is changed in it.
 * @param source a folder, or files
 */
export async function checkScenarios(
  source: string | readonly string[],
  sandbox: Sandbox,
): Promise<readonly CheckedScenario[]> {
  const { loadOnce } = await import('./doors/scenarios/load-once.ts')
  const candidates = await loadOnce(source, scenarioVocabulary(sandbox.settings))
  return Promise.all(candidates.map((candidate) => checked(candidate, sandbox)))
}

const MUST_BE_OBJECT: readonly Issue[] = [{ pointer: '', detail: 'must be an object' }]

function issuesOf(checked: { readonly issues: readonly Issue[] } | object): readonly Issue[] {
  return 'issues' in checked ? checked.issues : []
}

/** A member of scenarios that is short for a setting of a room. */
function short(name: string): Check {
  return (raw) => {
    for (const script of workspaceService.scripts.values()) {
      const setting = script.short[name]
      if (setting === undefined) continue
      const { error } = setting.schema().safeParse(raw)
      return error === undefined ? [] : zodIssues(error, '')
    }
    return [{ pointer: '', detail: 'is nothing that this service knows' }]
  }
}

async function checked({ file, data, problems }: Candidate, sandbox: Sandbox): Promise<CheckedScenario> {
  if (data?.fixtures === undefined) return { file, problems }
  const issues = await fixturesIssues(data.fixtures, data.settings ?? {}, sandbox)
  if (issues.length === 0) return { file, problems }
  const text = await readFile(file, 'utf8')
  const locate = (pointer: string) =>
    file.endsWith('.json') ? placeOf(text, offsetOf(text, pointer)) : sourcePlace(text, pointer)
  const found = issues.map(({ pointer, detail }) => {
    const at = `/fixtures${pointer}`
    return { file, ...locate(at), pointer: at, message: detail }
  })
  return { file, problems: found }
}

async function fixturesIssues(
  fixtures: JsonObject,
  own: JsonObject,
  sandbox: Sandbox,
): Promise<readonly Issue[]> {
  const { overrides, strict } = sandbox.settings
  try {
    await planMerge(sandbox, await readFixtures(fixtures), {
      settings: new Settings({ ...overrides, ...own }, strict),
    })
    return []
  } catch (error) {
    if (error instanceof FixturesError) return error.issues
    if (error instanceof Refusal) return error.options.issues ?? [{ pointer: '', detail: error.message }]
    throw error
  }
}
