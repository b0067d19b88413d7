import { execFile } from 'node:child_process'
import { performance } from 'node:perf_hooks'

/** The output of a command, its exit code, and its duration in milliseconds. */
export interface Finished {
  readonly code: number
  readonly out: string
  readonly err: string
  readonly ms: number
}

/** Timeout in milliseconds for commands that need seconds on an idle machine: a compiler, or npm. */
export const PATIENCE = 180_000

/** The environment of a new user; npm adds many variables to that of this process. Certificates of a proxy are needed to install. */
export const PLAIN_ENV = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^(npm_|INIT_CWD|NODE_(?!EXTRA_CA_CERTS)|VITEST|TEST|WORKSPACE_|CI$|GITHUB_)/.test(name),
  ),
)

/** Runs a command to its end; an exit code other than 0 is also a result. */
export function run(
  cwd: string,
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Finished> {
  const start = performance.now()
  return new Promise((resolve) => {
    execFile(file, args, { cwd, env: { ...PLAIN_ENV, ...env }, maxBuffer: 2 ** 26 }, (error, out, err) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1
      resolve({ code, out, err, ms: Math.round(performance.now() - start) })
    })
  })
}

/** Runs a command that must succeed; throws its output otherwise. @returns its standard output */
export async function succeed(cwd: string, file: string, args: readonly string[]): Promise<Finished> {
  const finished = await run(cwd, file, args)
  if (finished.code !== 0) {
    throw new Error(
      `${[file, ...args].join(' ')}: exit code ${finished.code}\n${finished.out}${finished.err}`,
    )
  }
  return finished
}
