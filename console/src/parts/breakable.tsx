/** A long name breaks behind a dot, not inside of a label. */
export function Breakable({ name }: { name: string }) {
  return name.split(/(?<=\.)/).map((label, at) => (
    <>
      {at > 0 && <wbr />}
      {label}
    </>
  ));
}
