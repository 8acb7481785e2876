// The meter and the view, without a desk.
#include "host/turn/context_meter.hpp"
#include "host/turn/conversation_view.hpp"
#include "tests/catch.hpp"

using namespace daybook;

namespace {

SessionRecord line(std::uint64_t seq,
                   const std::string& kind,
                   const std::string& turn,
                   Json extra) {
    SessionRecord record;
    record.seq = seq;
    record.kind = kind;
    record.turn = turn;
    record.text = kind + " " + std::to_string(seq);
    record.extra = std::move(extra);
    return record;
}

SessionRecord compress(std::uint64_t seq, const std::string& outcome, int to, int keeps = 0) {
    Json extra = Json::object().set("outcome", outcome).set("by", "host").set("to", to);
    return line(seq, "compress", "", keeps > 0 ? extra.set("keeps", keeps) : extra);
}

SessionRecord said(std::uint64_t seq, const std::string& turn, const char* kind = "message") {
    return line(seq, "trigger", turn, Json::object().set("kind", kind));
}

}  // namespace

TEST_CASE("tokens are the last count plus an estimate of what came since", "[turn]") {
    ContextMeter meter;
    CHECK(meter.used("m", 3000) == 1002);  // never counted: bytes / 3
    meter.measure("m", 500, 4000, false);
    CHECK(meter.used("m", 4000) == 500);
    CHECK(meter.used("m", 4300) == 500 + 101);
    CHECK(meter.used("m", 2000) == 250);  // half of it is gone
    CHECK(meter.used("other", 3000) == 1002);
    meter.measure("m", 0, 9000, true);  // no measurement
    meter.measure("m", -1, 9000, true);
    CHECK(meter.used("m", 4000) == 500);
}

TEST_CASE("calibration only raises the estimate, and only by exact counts", "[turn]") {
    ContextMeter meter;
    meter.measure("m", 2000, 10000, true);  // five bytes a token: the estimate stays
    meter.forget_count();
    CHECK(meter.used("m", 3000) == 1002);
    meter.measure("m", 9000, 10000, false);
    meter.forget_count();
    CHECK(meter.used("m", 3000) == 1002);
    meter.measure("m", 5000, 10000, true);
    meter.forget_count();
    CHECK(meter.used("m", 3000) == 1500);
    meter.measure("m", 4000, 10000, true);
    meter.forget_count();
    CHECK(meter.used("m", 3000) == 1500);
    meter.measure("m", 90000, 10000, true);  // a token has a byte at least
    meter.forget_count();
    CHECK(meter.used("m", 3000) == 3000);
    CHECK(meter.bytes_of("m", 100) == 100);
    CHECK(meter.calibration().at("m") == 1000);
}

TEST_CASE("a restart goes on from the count in the newest answer", "[turn]") {
    const auto answer = [](int input, int bytes) {
        return Json::object()
            .set("model", "m")
            .set("usage",
                 Json::object().set("input", input).set("bytes", bytes).set("exact", true));
    };
    std::vector<SessionRecord> lines{line(1, "answer", "t-1", answer(900, 2700)),
                                     line(2, "answer", "t-2", answer(1000, 5000))};
    ContextMeter meter;
    meter.restore(lines);
    CHECK(meter.used("m", 5000) == 1000);
    lines.push_back(compress(3, "failed", 2));
    ContextMeter same;
    same.restore(lines);
    CHECK(same.is_counted("m"));
    lines.push_back(compress(4, "completed", 2));
    ContextMeter fresh;
    fresh.restore(lines);
    CHECK_FALSE(fresh.is_counted("m"));
}

TEST_CASE("the view begins behind the newest compression that completed", "[turn]") {
    std::vector<SessionRecord> lines{line(1, "opening", "", Json::object()), said(2, "t-1")};
    CHECK(view_of(lines).summary == "opening 1");
    CHECK(view_of(lines).lines.size() == 1);
    lines.push_back(compress(3, "failed", 2));
    CHECK(view_of(lines).compress == nullptr);
    lines.push_back(compress(4, "completed", 2));
    CHECK(view_of(lines).summary == "compress 4");
    CHECK(view_of(lines).lines.empty());
    lines.push_back(said(5, "t-2"));
    lines.push_back(line(6, "tool_call", "t-2", Json::object()));
    lines.push_back(line(7, "tool_call", "t-2", Json::object()));
    lines.push_back(compress(8, "completed", 6, 5));
    const auto view = view_of(lines);
    REQUIRE(view.lines.size() == 2);
    CHECK(view.lines[0]->seq == 5);  // the trigger that is kept
    CHECK(view.lines[1]->seq == 7);
}

TEST_CASE("a flush counts as long as nothing was said after it; never flushed is no flush (M03)",
          "[turn]") {
    std::vector<SessionRecord> lines{said(1, "t-1")};
    CHECK(compress_history(lines).flush_turn.empty());
    lines.push_back(said(2, "t-2", "flush"));
    CHECK(compress_history(lines).flush_turn.empty());  // begun, not completed
    lines.push_back(line(3, "answer", "t-2", Json::object()));
    CHECK(compress_history(lines).flush_turn == "t-2");
    lines.push_back(compress(4, "failed", 3));
    CHECK(compress_history(lines).flush_turn == "t-2");
    CHECK(must_wait(compress_history(lines)));
    lines.push_back(said(5, "t-3"));
    CHECK(compress_history(lines).flush_turn.empty());
    CHECK_FALSE(must_wait(compress_history(lines)));
    lines.push_back(compress(6, "failed", 5));
    lines.push_back(said(7, "t-4"));
    CHECK(must_wait(compress_history(lines)));  // two turns after the second
    lines.push_back(compress(8, "completed", 7));
    CHECK(compress_history(lines).failures == 0);
}
