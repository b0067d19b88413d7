import { readFixtures } from '../adapters/fixtures.ts'
import type { Candidate } from '../adapters/scenarios/load.ts'
import type { Check, ScenarioVocabulary } from '../adapters/scenarios/schema.ts'
import { sourceLocation } from '../adapters/scenarios/source-places.ts'
import { readTextFile } from '../adapters/text.ts'
import { Settings } from '../core/assumptions.ts'
import { Refusal } from '../core/errors.ts'
import { checkDraft } from '../core/faults/arm.ts'
import { FixturesError } from '../core/fixtures-error.ts'
import { type Issue, isObject, type JsonObject } from '../core/json.ts'
import { locationsIn } from '../core/json-text.ts'
import type { Sandbox } from '../core/sandboxes/sandbox.ts'
import type { ScriptProblem } from '../core/scenarios/source.ts'
import { checkStepAction } from '../core/scenarios/step-actions.ts'
import { checkStub } from '../core/scenarios/stub.ts'
import type { Service } from '../core/service.ts'
import { planMerge } from '../core/state/merge-fixtures.ts'
import { parsed, zodIssues } from '../core/zod-issues.ts'
import { workspaceService } from './service.ts'

/** A scenario file and everything that is wrong with it. */
export interface CheckedScenario {
  readonly file: string
  readonly problems: readonly ScriptProblem[]
}

/** The events that scenarios of this service can subscribe to, and the checks of their fields. */
export function scenarioVocabulary(
  settings = new Settings(),
  service: Service = workspaceService,
): ScenarioVocabulary {
  return {
    events: [...service.recordEvents.keys()],
    checks: {
      // Whether the records fit depends on the sandbox: `checkScenarios` checks them.
      fixtures: (raw) => (isObject(raw) ? [] : MUST_BE_OBJECT),
      settings: (raw) => (isObject(raw) ? service.assumptions.check(raw) : MUST_BE_OBJECT),
      pace: short('pace', service),
      outcomes: short('outcomes', service),
      rule: (raw) => issuesOf(checkDraft(raw, service, settings)),
      stub: (raw) => issuesOf(checkStub(raw, service)),
      action: (raw) => issuesOf(checkStepAction(raw, service, settings)),
    },
  }
}

/**
 * Loads scenarios as the start of an emulator does, and checks their fixtures against a sandbox, which stays unchanged.
 * @param source a folder, or files
 */
export async function checkScenarios(
  source: string | readonly string[],
  sandbox: Sandbox,
): Promise<readonly CheckedScenario[]> {
  const { loadOnce } = await import('../adapters/scenarios/load.ts')
  const candidates = await loadOnce(source, scenarioVocabulary(sandbox.settings, sandbox.service))
  return Promise.all(candidates.map((candidate) => checked(candidate, sandbox)))
}

const MUST_BE_OBJECT: readonly Issue[] = [{ pointer: '', detail: 'must be an object' }]

function issuesOf(checked: { readonly issues: readonly Issue[] } | object): readonly Issue[] {
  return 'issues' in checked ? checked.issues : []
}

/** Checks a field of scenarios that is short for a setting of a resource. */
function short(name: string, service: Service): Check {
  return (raw) => {
    const setting = service.script?.settingAliases[name]
    if (setting === undefined) return [{ pointer: '', detail: 'is not supported by this service' }]
    const { error } = parsed(setting.schema(), raw)
    return error === undefined ? [] : zodIssues(error, '')
  }
}

async function checked({ file, data, problems }: Candidate, sandbox: Sandbox): Promise<CheckedScenario> {
  if (data?.fixtures === undefined) return { file, problems }
  const issues = await fixturesIssues(data.fixtures, data.settings ?? {}, sandbox)
  if (issues.length === 0) return { file, problems }
  const text = readTextFile(file)
  const locate = file.endsWith('.json')
    ? locationsIn(text)
    : (pointer: string) => sourceLocation(text, pointer)
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
