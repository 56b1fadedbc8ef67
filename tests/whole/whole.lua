-- SPDX-License-Identifier: BSD-2-Clause
-- A bit of everything that the interpreter has; its output is the same each time.
local numbers = {}
for i = 1, 60 do numbers[#numbers + 1] = (i * 7919) % 101 end
table.sort(numbers)
print(table.concat(numbers, ","))
local text = ("hello world "):rep(5):gsub("o", function(c) return c:upper() end)
print(text, #text, string.format("%5.2f %d %s %q", 3.14159, 42, "x", "a\nb"))
local resume = coroutine.wrap(function(a)
   for i = 1, 5 do a = a + coroutine.yield(a * i) end
   return "end"
end)
for i = 1, 5 do io.write(tostring(resume(i)), " ") end
local object = setmetatable({}, {__index = function(_, key) return key .. "!" end,
                                 __add = function() return 99 end})
print(object.abc, object + 1, pcall(error, "e"), select("#", 1, nil, 3))
print(load("return 1 + 2 * 3")(), math.floor(7.9), 7 // 2, 7 % -3, 2 ^ 10, 1 << 4, "10" + 5)
for word in ("one two three"):gmatch("%a+") do io.write(word, ";") end
collectgarbage()
print(collectgarbage("count") > 0, utf8.char(228, 8364), os.time{year=2020, month=1, day=1})
local ok, why = pcall(function() local nothing; return nothing.field end)
print(ok, why)
goto finish
print("never")
::finish:: print(string.pack("<i4", 100):byte(1, -1))
