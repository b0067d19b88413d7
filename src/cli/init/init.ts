import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { packageVersion, shippedFile } from '../../adapters/package.ts'
import { isObject } from '../../core/json.ts'
import { counted } from '../../core/words.ts'
import { CommandFailed, FAILED, type Invocation } from '../../terminal/command.ts'
import { requireJsonFile } from '../../terminal/json-files.ts'
import { codeOf, columns, show } from '../../terminal/print.ts'
import type { INIT_OPTIONS } from '../local-options.ts'

/** The test runners: the package of each, and the commands that run the test from its folder of templates. */
const RUNNERS = {
  vitest: { needs: 'vitest', commands: ['npx vitest run workspace.test'] },
  playwright: {
    needs: '@playwright/test',
    commands: ['npx playwright install chromium', 'npx playwright test workspace.spec'],
  },
  node: { needs: undefined, commands: ['node --test test/workspace.test.mjs'] },
} as const

type Runner = keyof typeof RUNNERS

type InitInvocation = Invocation<typeof INIT_OPTIONS>

/** `init`: copies templates into the current directory. */
export async function init(invocation: InitInvocation): Promise<number> {
  const { options, terminal } = invocation
  const installed = await installedPackages()
  const runners = chosenRunners(options, installed)
  const { endpointExamples, drift, agents } = options
  const endpointTest = runners.includes('vitest') ? 'endpoints-vitest' : 'endpoints-node'
  const templates = [
    'common',
    ...runners,
    ...(endpointExamples ? ['endpoints', endpointTest] : []),
    ...(drift ? ['drift'] : []),
  ]
  const plans = [
    ...templates.flatMap((folder) => plansOf(shippedFile('src', 'cli', 'init', 'templates', folder))),
    // The folder that coding agents of several makers read.
    ...(agents ? plansOf(shippedFile('skills'), '.agents/skills/') : []),
  ]
  const missing = plans.filter(({ exists }) => !exists)
  const files = plans.map(({ path, exists }) => ({ path, exists }))
  const list = columns(plans.map(({ path, exists }) => [path, exists ? 'exists, and stays as it is' : 'new']))
  if (options.dryRun) return show(invocation, { files, written: [] }, [...list, 'Nothing was written.'])
  if (!options.json) terminal.lines(list)
  const isAsked = !options.yes && !options.json && terminal.width !== undefined && process.stdin.isTTY
  if (missing.length > 0 && isAsked && !(await confirmed(missing.length))) {
    terminal.err('Nothing was written.')
    return FAILED
  }
  for (const plan of missing) write(plan)
  const next = nextCommands(runners, endpointExamples, installed)
  const unlocked =
    'The CI job runs npm ci, which needs package-lock.json. Change that line for another package manager.'
  return show(invocation, { files, written: missing.map(({ path }) => path), next }, [
    `${counted(missing.length, 'file')} written. Next:`,
    ...next.map((command) => `  ${command}`),
    ...(existsSync('package-lock.json') ? [] : [unlocked]),
  ])
}

/** The packages that package.json of the current directory names; none without that file. */
async function installedPackages(): Promise<ReadonlySet<string>> {
  if (!existsSync('package.json')) return new Set()
  const { dependencies, devDependencies } = (await requireJsonFile('package.json')).document
  const groups = [dependencies, devDependencies].filter((group) => isObject(group))
  return new Set(groups.flatMap((group) => Object.keys(group)))
}

function chosenRunners(
  options: InitInvocation['options'],
  installed: ReadonlySet<string>,
): readonly Runner[] {
  const packaged = ['vitest', 'playwright'] as const
  const named = packaged.filter((runner) => options[runner])
  if (named.length > 0) return named
  const found = packaged.filter((runner) => installed.has(RUNNERS[runner].needs))
  return found.length > 0 ? found : ['node']
}

/**
 * The files to write, with paths that have slashes.
 * @param into the folder for the files, with a slash at its end; absent: the current one
 */
function plansOf(root: string, into = '') {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => {
      const template = join(parentPath, name)
      const own = template.slice(root.length + 1).replaceAll('\\', '/')
      const path = into + own.replace(/^e2e(?=\/)/, testDirectory)
      return { path, template, exists: existsSync(path) }
    })
}

// Playwright finds tests in its `testDir` only.
function testDirectory(usual: string): string {
  const config = readdirSync('.').find((name) => /^playwright\.config\.[cm]?[jt]s$/.test(name))
  const text = config === undefined ? '' : readFileSync(config, 'utf8')
  const [, , named] = /\btestDir:\s*(['"`])(?:\.\/)?(?!\/|\w:|.*\.\.)([^'"`$]+?)\/?\1/.exec(text) ?? []
  return named ?? usual
}

function confirmed(count: number): Promise<boolean> {
  const reader = createInterface({ input: process.stdin, output: process.stderr })
  return new Promise((resolve) => {
    // Ctrl-C and Ctrl-D close it without an answer.
    reader.on('close', () => resolve(false))
    reader.question(`Write ${counted(count, 'file')}? [Y/n] `, (answer) => {
      resolve(/^(?:y|yes|)$/i.test(answer.trim()))
      reader.close()
    })
  })
}

function write({ path, template }: ReturnType<typeof plansOf>[number]): void {
  try {
    mkdirSync(dirname(path), { recursive: true })
    // `wx`: a file that another process has written since, or a broken link, is not replaced either.
    writeFileSync(path, readFileSync(template), { flag: 'wx' })
  } catch (error) {
    throw new CommandFailed(
      `${path} cannot be written (${codeOf(error)}). Make room for it, and run init again: files that exist stay as they are.`,
    )
  }
}

function nextCommands(runners: readonly Runner[], withEndpoints: boolean, installed: ReadonlySet<string>) {
  const own = `agent-workspace-emulator-${packageVersion()}.tgz`
  const needed = [
    ...runners.flatMap((runner) => RUNNERS[runner].needs ?? []),
    ...(withEndpoints ? ['zod'] : []),
  ]
  const packages = [
    ...(installed.has('agent-workspace-emulator') ? [] : [own]),
    ...needed.filter((name) => !installed.has(name)),
  ]
  return [
    ...(packages.length === 0 ? [] : [`npm install --save-dev ${packages.join(' ')}`]),
    `npx agent-workspace-emulator validate fixtures/workspace.json scenarios${withEndpoints ? ' endpoints' : ''}`,
    ...runners.flatMap((runner) => RUNNERS[runner].commands),
    ...(withEndpoints
      ? [runners.includes('vitest') ? 'npx vitest run endpoints.test' : 'node --test test/endpoints.test.mjs']
      : []),
    'docker compose up --detach --wait',
  ]
}
