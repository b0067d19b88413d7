/** Whether a text is the origin of web pages as browsers write it: scheme, host and port, without a path. */
export function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text
}
