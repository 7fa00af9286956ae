import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitBody, withBindings } from "../../src/core/arguments.ts";
import type { JsonObject } from "../../src/core/json.ts";
import {
  isJsonTemplate,
  renderForm,
  renderJson,
  renderStepBody,
  renderText,
} from "../../src/core/substitute.ts";
import { countSlots } from "../../src/core/template.ts";
import { nasty, objectSchema, ofArgs, ofBody, ofPieces } from "../support/arguments.ts";

const wellFormed = nasty.map((text) => text.toWellFormed());

describe("a template", () => {
  it("names pieces by number, the rest by a plus, bindings and arguments by name", () => {
    const args = withBindings(ofArgs({ a: "A", b: [1] }), new Map([["PREV", "P"]]));
    expect(renderText("$1-$2-$PREV-$a-$b-$c-$3-$1+", args)).toBe("A-[1]-P-A-[1]-$c--A|[1]");
  });

  it("reads the longest number", () => {
    const pieces = Array.from({ length: 12 }, (_, index) => `p${index + 1}`);
    expect(renderText("$10 $1 $12+ $0 $", ofPieces(...pieces))).toBe("p10 p1 p12 $0 $");
  });

  it("escapes a dollar with an odd run of backslashes", () => {
    expect(renderText("\\$1 \\\\$1 \\\\\\$1 \\n $$ $$$1", ofPieces("x"))).toBe(
      "$1 \\\\x \\\\$1 \\n $$ $x",
    );
    expect(JSON.parse(renderJson('{"path":"C:\\\\$1","price":"\\$5"}', ofPieces('"')))).toEqual({
      path: 'C:\\"',
      price: "$5",
    });
  });

  it("counts its pieces: an unescaped amount of dollars shows up there", () => {
    expect(countSlots('{"text":"$1 costs $5,000"}')).toBe(5);
    expect(countSlots('{"text":"$1 costs \\$5,000"}')).toBe(1);
    expect(countSlots("$NAME $$3+ {a}")).toBe(3);
    expect(renderJson('{"text":"$1 costs \\$5,000"}', ofBody("Plan A|x|y|z|OOPS"))).toBe(
      '{"text":"Plan A costs $5,000"}',
    );
  });

  it("that is one slot gives the value as is", () => {
    const args = ofBody('ROUTER|{"content":"a|b"}');
    for (const render of [renderText, renderJson, renderForm])
      expect(render("$2+", args)).toBe('{"content":"a|b"}');
  });

  it("is gone through once, whatever the values hold", () => {
    expect(renderJson('{"a":"$1","b":"$2"}', ofBody("$2|top-secret"))).toBe(
      '{"a":"$2","b":"top-secret"}',
    );
    fc.assert(
      fc.property(wellFormed, wellFormed, (a, b) => {
        expect(renderText("<$1|$2>", ofPieces(a, b))).toBe(`<${a}|${b}>`);
        const bound = withBindings(ofPieces(a), new Map([["PREV", b]]));
        expect(renderText("$PREV$1$$PREV$NOPE", bound)).toBe(`${b}${a}${b}$NOPE`);
      }),
      { numRuns: 300 },
    );
  });
});

describe("a value in JSON", () => {
  const text = "He said \"hi\"\n\\path\t\u2028 😀 </script> \\u0041 $& $$ $' pa$&ss$$w$'x$1";

  it("arrives exactly, in quotes and out of them", () => {
    for (const template of ['{"msg":"$1","n":1}', '{"msg":$1,"n":1}']) {
      expect(JSON.parse(renderJson(template, ofPieces(text)))).toEqual({ msg: text, n: 1 });
    }
  });

  it("keeps its declared type when named", () => {
    const args = ofArgs(
      { n: 5, s: "5", list: ["a"], flag: false },
      objectSchema({ n: {}, s: {}, list: {}, flag: {}, gone: {} }),
    );
    expect(renderJson('{"n":$n,"s":$s,"l":$list,"f":$flag,"g":$gone,"q":"$n$gone"}', args)).toBe(
      '{"n":5,"s":"5","l":["a"],"f":false,"g":null,"q":"5"}',
    );
  });

  it("keeps the digits of a number when positional", () => {
    expect(renderJson('{"id":$1,"s":"$1"}', ofBody("2574604874062343519"))).toBe(
      '{"id":2574604874062343519,"s":"2574604874062343519"}',
    );
  });

  it("that is not there is null, and an empty piece is empty text", () => {
    expect(renderJson('{"a":$1,"b":$2,"c":"$2","d":$2+}', ofBody(""))).toBe(
      '{"a":"","b":null,"c":"","d":null}',
    );
  });

  it("cannot add a member or move another slot", () => {
    fc.assert(
      fc.property(wellFormed, wellFormed, (a, b) => {
        const args = withBindings(ofPieces(a, b), new Map([["PREV", a]]));
        const value = JSON.parse(
          renderJson('{"x":"<$1>","y":$1,"z":$PREV,"w":[$2],"v":"$2"}', args),
        ) as JsonObject;
        expect(Object.keys(value)).toEqual(["x", "y", "z", "w", "v"]);
        expect(value).toMatchObject({ x: `<${a}>`, v: b });
        expect(value["w"]).toHaveLength(1);
      }),
      { numRuns: 500 },
    );
  });

  it("raw is pasted: the author of the row vouches for it", () => {
    expect(renderJson('{"a":"$1",$$2}', ofPieces('"', '"b":1'))).toBe('{"a":"\\"","b":1}');
  });

  it("is recognised by its template", () => {
    for (const template of [
      '{"a":$1}',
      '["$1"]',
      '{"a":"$1",$$2}',
      '{"a":{$$2},"b":[]}',
      '"$1"',
      "7",
    ]) {
      expect(isJsonTemplate(template), template).toBe(true);
    }
    for (const template of ["Hello $1", "[Alert] $1", "$1 $2", '{"a":"$1"', ""]) {
      expect(isJsonTemplate(template), template).toBe(false);
    }
  });
});

describe("a value in a form body", () => {
  it("is form-encoded and stays in its pair", () => {
    fc.assert(
      fc.property(wellFormed, wellFormed, (a, b) => {
        const form = new URLSearchParams(renderForm("a=$1&fixed=%20&b=$2", ofPieces(a, b)));
        expect([...form]).toEqual([
          ["a", a],
          ["fixed", " "],
          ["b", b],
        ]);
      }),
      { numRuns: 300 },
    );
  });

  it("leaves no pair behind when optional and absent", () => {
    const schema = objectSchema({ a: {}, b: {}, c: {} });
    expect(renderForm("a=$a&x=1&b=$2&c=-$c", ofArgs({ b: "" }, schema))).toBe("x=1&c=-");
    expect(renderForm("{?a,b}{&c}", ofArgs({ b: "x y", c: 1 }, schema))).toBe("b=x%20y&c=1");
    expect(renderForm("x=1{&a}&y={b}", ofArgs({}, schema))).toBe("x=1");
    expect(renderForm("a=$1&b=$2", ofBody("1"))).toBe("a=1&b=");
  });
});

describe("a flow step's body", () => {
  it("is split before values are put in", () => {
    expect(
      renderStepBody(
        "blooio|$2|$PREV\\|x",
        withBindings(ofBody("a|+1"), new Map([["PREV", "p|q"]])),
      ),
    ).toEqual(["blooio", "+1", "p|q|x"]);
    expect(
      renderStepBody("$PREV", withBindings(ofPieces(), new Map([["PREV", "$PREV => OTHER"]]))),
    ).toEqual(["$PREV => OTHER"]);
  });

  it("has as many pieces as its template, each with its values exact", () => {
    fc.assert(
      fc.property(wellFormed, wellFormed, (a, b) => {
        expect(renderStepBody("k|$1|<$2>|$1+", ofPieces(a, b))).toEqual([
          "k",
          a,
          `<${b}>`,
          `${a}|${b}`,
        ]);
      }),
      { numRuns: 300 },
    );
    expect(renderStepBody("\\$1|\\\\|x", ofPieces("v"))).toEqual(splitBody("$1|\\\\|x"));
  });
});

describe("a flow step's body that is JSON", () => {
  const args = withBindings(ofPieces(), new Map([["PREV", 'x","admin":"1|2']]));

  it("takes a value as a value: no member can be added", () => {
    const [body, ...more] = renderStepBody('{"city":"$PREV","n":$PREV}', args);
    expect(more).toEqual([]);
    expect(JSON.parse(body!)).toEqual({ city: 'x","admin":"1|2', n: 'x","admin":"1|2' });
  });

  it("is not split at a pipe inside it, and a JSON piece beside others is filled as JSON", () => {
    expect(renderStepBody('{"city":"a|b"}', args)).toEqual(['{"city":"a|b"}']);
    expect(renderStepBody('KEY|{"city":"$PREV"}', args)).toEqual([
      "KEY",
      '{"city":"x\\",\\"admin\\":\\"1|2"}',
    ]);
  });
});
