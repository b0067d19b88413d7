/** One instruction of a Dockerfile, such as `COPY`, and its arguments, also from continued lines. */
export interface Instruction {
  readonly name: string
  readonly text: string
}

/** The part of a Dockerfile that starts with one `FROM`. */
export interface Stage {
  readonly base: string
  readonly name: string | undefined
  readonly instructions: readonly Instruction[]
}

export function stagesOf(dockerfile: string): Stage[] {
  const lines = dockerfile
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
  const stages: { base: string; name: string | undefined; instructions: Instruction[] }[] = []
  for (const line of lines) {
    const [, name = '', text = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? []
    if (name === 'FROM') {
      const [base = '', , stage] = text.split(/\s+/)
      stages.push({ base, name: stage, instructions: [] })
    } else stages.at(-1)?.instructions.push({ name, text })
  }
  return stages
}

/** The variables of an `ENV`, or the labels of a `LABEL`. */
export function pairsOf(text: string): [string, string][] {
  return [...text.matchAll(/([\w.]+)=(?:"([^"]*)"|(\S*))/g)].map(([, name = '', quoted, bare]) => [
    name,
    quoted ?? bare ?? '',
  ])
}

/** The words of an instruction in exec form; throws for the shell form, in which signals reach only the shell. */
export function wordsOf(text: string): string[] {
  return JSON.parse(text) as string[]
}
