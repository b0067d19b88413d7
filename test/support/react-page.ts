import { onTestFinished, vi } from 'vitest'

/** Just enough of a page for React, until the test ends. */
export function aPage() {
  const window = { HTMLIFrameElement: class {} }
  const events = { addEventListener: () => {}, removeEventListener: () => {} }
  const node = (name: string) => {
    const childNodes: { textContent: string }[] = []
    const tree = {
      appendChild: (child: never) => childNodes.push(child),
      removeChild: (child: never) => childNodes.splice(childNodes.indexOf(child), 1),
    }
    const names = { nodeType: 1, nodeName: name, tagName: name, namespaceURI: 'http://www.w3.org/1999/xhtml' }
    return { ...names, ...tree, ...events, childNodes, textContent: '', ownerDocument: document }
  }
  const document: object = { nodeType: 9, defaultView: window, createElement: node, ...events }
  vi.stubGlobal('window', window)
  onTestFinished(() => void vi.unstubAllGlobals())
  const root = node('MAIN')
  return { root, text: () => root.childNodes.map(({ textContent }) => textContent).join('') }
}
