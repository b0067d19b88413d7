import type { SandboxClient } from '../../index.ts'

/** A text about requests of one sandbox, without the prefix of its paths that only says which sandbox it is. */
export function inSandbox({ name }: SandboxClient, text: string): string {
  return text.replaceAll(`/@${name}/v1`, '/v1')
}
