// As in core/log/patterns.ts: the entry points for test runners bundle nothing outside this folder.
/** Whether a text fits a pattern in which `*` matches any run of characters, as in matches of requests. */
export function fitsGlob(pattern: string, text: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[\\^$.|?+()[\]{}]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`, 's').test(text)
}
