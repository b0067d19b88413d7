import { DEFAULT_SANDBOX } from '../../../core/sandboxes/sandboxes.ts'

/** What stands before every path of a sandbox: nothing for the default one. */
export function prefixOf(sandbox: string | undefined): string {
  return sandbox === undefined || sandbox === DEFAULT_SANDBOX ? '' : `/@${sandbox}`
}

/** Where the API of a sandbox is. */
export function apiPath(sandbox?: string): string {
  return `${prefixOf(sandbox)}/v1`
}

/** Where the control interface of a sandbox is. */
export function controlPath(sandbox?: string): string {
  return `${prefixOf(sandbox)}/__emulator`
}
