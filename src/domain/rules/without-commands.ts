/**
 * A command in a comment would be carried out with the rights of the token's account. An escaped slash is shown as one.
 * A path such as /usr/bin is none.
 */
export function withoutCommands(text: string): string {
  return text.replaceAll(/^([^\S\r\n]*)\/(?=[a-z_][\w-]*(?![\w/.-]))/gim, '$1\\/');
}
